"""Command palette and sheet of shortcuts in the main window."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from ui.palette.acts import Act
from ui.palette.palette import Palette
from ui.palette.sheet import ShortcutsSheet, all_keys
from ui.theme import Theme
from ui.window_acts import Doings, PaletteActs, acts_of, bind


@pytest.fixture
def done() -> list[str]:
    return []


@pytest.fixture
def acts(done: list[str]) -> tuple[Act, ...]:
    def doing(name: str) -> Callable[..., object]:
        return lambda *given: done.append(" ".join([name, *map(str, given)]))

    return acts_of(Doings(**{name: doing(name) for name in Doings.__dataclass_fields__}))


@pytest.fixture
def window(qtbot: QtBot, theme: Theme) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_each_key_stands_once_and_each_name_too(acts: tuple[Act, ...]) -> None:
    keys = [QKeySequence(keys).toString() for act in acts for keys in act.keys]
    assert all(keys)
    assert len(keys) == len(set(keys))
    names = [act.name for act in acts]
    assert len(names) == len(set(names))


def test_keys_do_what_the_sheet_says(qtbot: QtBot, window: QWidget, acts: tuple[Act, ...], done: list[str]) -> None:
    bind(acts, window, window)
    bound = {shortcut.key().toString() for shortcut in window.findChildren(QShortcut)}
    assert bound == {QKeySequence(keys).toString() for act in acts for keys in act.keys if act.bound}
    assert {keys for act in acts for keys in act.keys if not act.bound} == {
        "Esc",
        "Return",
        "Shift+Return",
        "Up",
        "F2",
        "Del",
    }
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(window, Qt.Key.Key_Minus, Qt.KeyboardModifier.ControlModifier)
    assert done == ["shortcuts", "palette", "scale -1"]


def test_keys_of_the_chat_rest_while_it_is_covered(
    qtbot: QtBot, window: QWidget, acts: tuple[Act, ...], done: list[str]
) -> None:
    chat = QWidget(window)
    chat.show()
    bind(acts, window, chat)
    chat.hide()
    qtbot.keyClick(window, Qt.Key.Key_F1)
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    chat.show()
    qtbot.keyClick(window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    assert done == ["shortcuts", "new_chat"]


def test_the_sheet_shows_every_key(qtbot: QtBot, window: QWidget, theme: Theme, acts: tuple[Act, ...]) -> None:
    sheet = ShortcutsSheet(theme, acts, window)
    qtbot.addWidget(sheet)
    sheet.show()
    texts = {label.text() for label in sheet.findChildren(QLabel)}
    for act in acts:
        assert act.name in texts
        assert all_keys(act) in texts
        assert act.group in texts


def test_at_large_text_keys_stay_near_their_names(
    qtbot: QtBot, window: QWidget, theme: Theme, acts: tuple[Act, ...]
) -> None:
    theme.set_scale(1.7)
    sheet = ShortcutsSheet(theme, acts, window)
    qtbot.addWidget(sheet)
    sheet.show()
    sheet.resize(1280, 700)
    area = sheet.findChild(QScrollArea)
    assert area is not None
    inside = area.widget()
    assert inside is not None
    qtbot.waitUntil(lambda: area.width() == 1280, timeout=60_000)
    names = [label for label in sheet.findChildren(QLabel) if label.text() in {act.name for act in acts}]
    assert len({label.mapTo(sheet, label.rect().topLeft()).x() for label in names}) == 1, "one column"
    assert inside.width() < 1280 - theme.px(100)
    assert area.horizontalScrollBar().maximum() == 0


def opened(qtbot: QtBot, theme: Theme, window: QWidget, acts: tuple[Act, ...]) -> Palette:
    palette = Palette(theme, lambda: acts, window)
    palette.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(palette)
    palette.open_over(window)
    return palette


def test_typing_and_enter_run_a_command(qtbot, theme, window, acts, done) -> None:
    palette = opened(qtbot, theme, window, acts)
    qtbot.keyClicks(palette.field, "bench")
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert done == ["benchmark"]
    assert not palette.isVisible()


def test_large_text_leaves_it_inside_the_window(qtbot, theme, window, acts) -> None:
    window.resize(1024, 732)
    theme.set_scale(2.0)
    palette = opened(qtbot, theme, window, acts)
    assert palette.frameGeometry().bottom() <= window.mapToGlobal(window.rect().bottomLeft()).y()
    assert palette.list.height() >= 3 * theme.px(32)


def test_arrows_choose_and_stay_in_the_list(qtbot, theme, window, acts, done) -> None:
    palette = opened(qtbot, theme, window, acts)
    qtbot.keyClicks(palette.field, "chat")
    qtbot.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.list.currentRow() == 0
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    qtbot.keyClick(palette.field, Qt.Key.Key_PageDown)
    assert palette.list.currentRow() == palette.list.count() - 1 > 0
    qtbot.keyClick(palette.field, Qt.Key.Key_Up)
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert len(done) == 1


def test_nothing_found_is_said_and_enter_does_nothing(qtbot, theme, window, acts, done) -> None:
    palette = opened(qtbot, theme, window, acts)
    qtbot.keyClicks(palette.field, "xyzzy")
    assert not palette.list.isVisible()
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert done == []
    assert palette.isVisible()


def test_names_are_shown_as_they_are(qtbot, theme, window, done) -> None:
    name = "Open “<b>bold</b> & more\nlines”"
    palette = opened(qtbot, theme, window, (Act(name, lambda: done.append("x")),))
    label = next(label for label in palette.findChildren(QLabel) if "bold" in label.text())
    assert label.text() == "Open “<b>bold</b> & more lines”"
    assert label.textFormat() is Qt.TextFormat.PlainText


def test_conversations_and_models_are_offered() -> None:
    from pathlib import Path
    from types import SimpleNamespace

    from ui.chat.transcript.commands import NamedModel

    asked: list[object] = []
    rows = (SimpleNamespace(id="c1", title="Holiday"),)
    chat = SimpleNamespace(conversations=SimpleNamespace(rows=rows), open=asked.append)
    models = [NamedModel("Qwen3 8B", Path("/m.gguf"))]
    offered = PaletteActs((), chat, lambda: models, asked.append)()  # type: ignore[arg-type]
    assert [act.name for act in offered] == ["Open “Holiday”", "Load Qwen3 8B"]
    for act in offered:
        act.run()
    assert asked == ["c1", Path("/m.gguf")]
