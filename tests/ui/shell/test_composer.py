"""Enter, input methods, Tab, large pastes, refused messages, drafts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QImage, QInputMethodEvent
from PySide6.QtWidgets import QApplication, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from engine.chat.records import Draft
from engine.chat.text import clean
from ui.chat.composer import Composer
from ui.chat.message_edit import LARGE_TEXT, MessageEdit
from ui.chat.paste_chip import PasteChip
from ui.theme import Theme
from ui.widgets.elided_label import ElidedLabel


class Outbox:
    """Takes messages, or refuses them."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.accepts = True

    def __call__(self, text: str) -> bool:
        self.sent.append(text)
        return self.accepts


@pytest.fixture
def outbox() -> Outbox:
    return Outbox()


@pytest.fixture
def composer(qtbot: QtBot, theme: Theme, outbox: Outbox) -> Iterator[Composer]:
    window = QWidget()
    composer = Composer(outbox, theme)
    other = QPushButton("Other")
    column = QVBoxLayout(window)
    column.addWidget(composer)
    column.addWidget(other)
    qtbot.addWidget(window)
    window.resize(700, 400)
    window.show()
    window.activateWindow()
    composer.focus()
    qtbot.waitUntil(lambda: edit_of(composer).hasFocus())
    yield composer
    window.close()


def edit_of(composer: Composer) -> MessageEdit:
    found = composer.findChild(MessageEdit, "composer")
    assert isinstance(found, MessageEdit)
    return found


def named(composer: Composer, name: str) -> QPushButton:
    found = composer.findChild(QPushButton, name)
    assert isinstance(found, QPushButton)
    return found


def paste(composer: Composer, text: str) -> None:
    mime = QMimeData()
    mime.setText(text)
    edit_of(composer).insertFromMimeData(mime)


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_sends_and_empties(composer: Composer, outbox: Outbox, qtbot: QtBot, key: Qt.Key) -> None:
    qtbot.keyClicks(edit_of(composer), "Hello")
    qtbot.keyClick(edit_of(composer), key)
    assert outbox.sent == ["Hello"]
    assert edit_of(composer).toPlainText() == ""
    assert edit_of(composer).hasFocus()


def test_enter_twice_sends_once(composer: Composer, outbox: Outbox, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "Hello")
    for _ in range(2):
        qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert outbox.sent == ["Hello"]


@pytest.mark.parametrize("blank", ["", "   ", "\n\n", "\u2003\t"])
def test_blank_is_not_sent(composer: Composer, outbox: Outbox, qtbot: QtBot, blank: str) -> None:
    paste(composer, blank)
    assert not named(composer, "sendButton").isEnabled()
    qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert outbox.sent == []


def test_shift_enter_breaks_the_line(composer: Composer, outbox: Outbox, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "one")
    qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(edit_of(composer), "two")
    assert edit_of(composer).toPlainText() == "one\ntwo"
    qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert outbox.sent == ["one\ntwo"]


def test_enter_belongs_to_the_input_method_while_it_composes(composer: Composer, outbox: Outbox, qtbot: QtBot) -> None:
    edit = edit_of(composer)
    QApplication.sendEvent(edit, QInputMethodEvent("ねこ", []))
    for modifier in (
        Qt.KeyboardModifier.NoModifier,
        Qt.KeyboardModifier.ControlModifier,
        Qt.KeyboardModifier.KeypadModifier,
    ):
        qtbot.keyClick(edit, Qt.Key.Key_Return, modifier)
    assert outbox.sent == []
    commit = QInputMethodEvent("", [])
    commit.setCommitString("猫")
    QApplication.sendEvent(edit, commit)
    assert edit.toPlainText() == "猫"
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert outbox.sent == ["猫"]


def test_tab_leaves_and_comes_back(composer: Composer, qtbot: QtBot) -> None:
    edit = edit_of(composer)
    qtbot.keyClicks(edit, "x")
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    assert edit.toPlainText() == "x"
    assert named(composer, "sendButton").hasFocus()
    qtbot.keyClick(named(composer, "sendButton"), Qt.Key.Key_Backtab)
    assert edit.hasFocus()


def test_a_refused_message_stays(composer: Composer, outbox: Outbox, qtbot: QtBot) -> None:
    outbox.accepts = False
    qtbot.keyClicks(edit_of(composer), "Keep me")
    qtbot.mouseClick(named(composer, "sendButton"), Qt.MouseButton.LeftButton)
    assert outbox.sent == ["Keep me"]
    assert edit_of(composer).toPlainText() == "Keep me"
    assert edit_of(composer).hasFocus()


def test_a_restored_draft_does_not_overwrite_newer_text(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "newer")
    composer.restore("refused")
    assert composer.text() == "refused\nnewer"
    composer.clear()
    composer.restore("refused")
    composer.restore("refused")
    assert composer.text() == "refused"


def test_stop_takes_the_place_of_send(composer: Composer, outbox: Outbox, qtbot: QtBot) -> None:
    place = named(composer, "sendButton").mapTo(composer, named(composer, "sendButton").rect().topLeft())
    composer.set_busy(True)
    stop = named(composer, "stopButton")
    assert stop.isVisible()
    assert not named(composer, "sendButton").isVisible()
    assert stop.mapTo(composer, stop.rect().topLeft()) == place
    qtbot.keyClicks(edit_of(composer), "next")
    qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert outbox.sent == ["next"], "it waits for the answer, and is sent then"
    with qtbot.waitSignal(composer.stop_requested):
        qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    composer.set_busy(False)
    assert edit_of(composer).hasFocus()


def test_grows_to_eight_lines(composer: Composer, qtbot: QtBot) -> None:
    edit = edit_of(composer)
    one = edit.height()
    paste(composer, "\n".join("line" for _ in range(4)))
    qtbot.waitUntil(lambda: 3.5 * one < edit.height() < 4.6 * one)
    paste(composer, "\n".join("line" for _ in range(40)))
    qtbot.waitUntil(lambda: 7.5 * one < edit.height() < 8.8 * one)
    composer.clear()
    qtbot.waitUntil(lambda: edit.height() == one)


def test_paste_is_plain_text_and_no_picture(composer: Composer) -> None:
    mime = QMimeData()
    mime.setHtml("<b style='color:red'>bold</b>")
    mime.setText("bold\r\nnext\0")
    edit_of(composer).insertFromMimeData(mime)
    assert edit_of(composer).toPlainText() == "bold\nnext"
    assert "color" not in edit_of(composer).document().toHtml().split("<body")[1].replace("background-color", "")
    picture = QMimeData()
    picture.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    assert not edit_of(composer).canInsertFromMimeData(picture)


LARGE = {
    "prose": "word " * 210_000,
    "code": "x = 1  # a line of code with some text\n" * 20_000,
    "one line": "x" * 1_000_000,
}


@pytest.mark.parametrize("kind", sorted(LARGE))
def test_a_large_paste_becomes_a_chip_at_once(composer: Composer, outbox: Outbox, qtbot: QtBot, kind: str) -> None:
    text = LARGE[kind]
    paste(composer, text)
    qtbot.keyClicks(edit_of(composer), "ten letter")
    (chip,) = composer.findChildren(PasteChip)
    qtbot.waitUntil(chip.isVisible)
    assert edit_of(composer).toPlainText() == "ten letter"
    qtbot.keyClick(edit_of(composer), Qt.Key.Key_Return)
    assert outbox.sent == [f"ten letter\n\n{text.strip()}"]
    assert [c for c in composer.findChildren(PasteChip) if c.isVisible()] == []


def test_many_small_pastes_do_not_add_up(composer: Composer) -> None:
    for _ in range(4):
        paste(composer, "y" * (LARGE_TEXT - 100))
    assert edit_of(composer).document().characterCount() <= LARGE_TEXT
    assert len(composer.findChildren(PasteChip)) == 3


def test_a_chip_can_be_removed_by_keyboard(composer: Composer, qtbot: QtBot) -> None:
    paste(composer, "z" * (LARGE_TEXT + 1))
    (chip,) = composer.findChildren(PasteChip)
    button = chip.findChild(QPushButton)
    assert isinstance(button, QPushButton)
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)
    assert composer.text() == ""
    assert edit_of(composer).hasFocus()
    assert not named(composer, "sendButton").isEnabled()


def test_each_conversation_keeps_its_draft(composer: Composer, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "for a new one")
    composer.switch_to("a")
    assert composer.text() == ""
    qtbot.keyClicks(edit_of(composer), "for a")
    paste(composer, "w" * (LARGE_TEXT + 1))
    composer.switch_to("b")
    assert composer.text() == ""
    composer.switch_to("a")
    assert composer.text().startswith("for a\n\nw")
    composer.switch_to(None)
    assert composer.text() == "for a new one"


@pytest.mark.parametrize(("raw", "kept"), [("  a \n", "a"), ("a\x1bb", "a␛b"), ("\U0001f600", "\U0001f600")])
def test_a_message_is_handed_over_as_it_is_stored(composer: Composer, raw: str, kept: str) -> None:
    """Else one that could not be saved would come back beside itself."""
    composer.append(raw)
    assert composer.text() == kept == clean(kept)
    composer.restore(kept)
    assert composer.text() == kept


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a\nbcdef" * 7000, "7,001 lines · 49 kB"),
        ("x" * 1_500_000, "1 line · 1.5 MB"),
        ("é" * 25_000, "1 line · 50 kB"),
    ],
)
def test_a_chip_says_how_much_it_holds(composer: Composer, text: str, words: str) -> None:
    paste(composer, text)
    (chip,) = composer.findChildren(PasteChip)
    label = chip.findChild(ElidedLabel)
    assert label is not None
    assert label.text() == f"Pasted text · {words}"


Changes = list[tuple[str | None, Draft]]


@pytest.fixture
def changes(composer: Composer) -> Changes:
    found: Changes = []
    composer.draft_changed.connect(lambda place, draft: found.append((place, draft)))
    return found


def test_every_change_of_a_draft_is_told(composer: Composer, changes: Changes, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "ab")
    paste(composer, "w" * (LARGE_TEXT + 1))
    large = Draft(text="ab", pasted=("w" * (LARGE_TEXT + 1),))
    assert changes == [(None, Draft(text="a")), (None, Draft(text="ab")), (None, large)]
    composer.submit()
    assert changes[3:] == [(None, Draft())]


def test_going_elsewhere_changes_no_draft(composer: Composer, changes: Changes, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "a")
    composer.switch_to("c")
    composer.switch_to(None)
    assert changes == [(None, Draft(text="a"))]
    assert composer.text() == "a"


def test_what_is_typed_while_a_new_chat_gets_its_name_moves_along(
    composer: Composer, changes: Changes, qtbot: QtBot
) -> None:
    qtbot.keyClicks(edit_of(composer), "a")
    composer.submit()
    qtbot.keyClicks(edit_of(composer), "b")
    composer.switch_to("c")
    assert composer.text() == "b"
    assert changes[-2:] == [(None, Draft()), ("c", Draft(text="b"))]


def test_drafts_of_an_earlier_run(composer: Composer, changes: Changes, qtbot: QtBot) -> None:
    qtbot.keyClicks(edit_of(composer), "new")
    large = Draft(text="see", pasted=("w" * 30_000, "second"))
    composer.take_drafts({None: Draft(text="old", pasted=("p" * 30_000,)), "c": large})
    assert changes[-1] == (None, Draft(text="old\nnew", pasted=("p" * 30_000,)))
    composer.switch_to("c")
    assert composer.draft() == large
    shown = lambda: [chip.text for chip in composer.findChildren(PasteChip) if chip.isVisible()]  # noqa: E731
    qtbot.waitUntil(lambda: shown() == list(large.pasted))
    composer.switch_to(None)
    assert composer.text() == "old\nnew\n\n" + "p" * 30_000
