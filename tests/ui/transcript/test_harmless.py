"""An answer cannot read files, load pictures, open addresses or freeze the window (cases 46, 47, 49, 50, 53)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QToolTip
from pytestqt.qtbot import QtBot

from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer, clipboard, model_of, point_of, question
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.cutting import MAX_PARAGRAPH
from ui.chat.transcript.links import may_open
from ui.chat.transcript.view import TranscriptView

LINKS = (
    "[ok](https://example.org) [f](file:///home/deck/.bashrc) [j](javascript:alert(1)) [s](steam://run/1) "
    "[rel](../x) [https://bank.example](https://evil.example) [post](mailto:a@b.example)"
)


class Spy:
    """What the view asked its owner for."""

    def __init__(self, view: TranscriptView) -> None:
        self.opened: list[str] = []
        self.copied: list[str] = []
        view.link_activated.connect(self.opened.append)
        view.address_copied.connect(self.copied.append)


def test_case_47_only_web_and_mail_addresses_are_handed_on(make_view: MakeView) -> None:
    view = make_view([answer(LINKS)])
    spy = Spy(view)
    for label in ("ok", "f", "j", "s", "rel", "https://bank", "post"):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, 0, label))
    assert spy.opened == ["https://example.org", "https://evil.example", "mailto:a@b.example"]
    assert spy.copied == ["file:///home/deck/.bashrc", "javascript:alert(1)", "steam://run/1", "../x"]
    assert clipboard() == "../x"
    assert view.content.rows[0].text == LINKS


def test_a_drag_over_a_link_does_not_open_it(make_view: MakeView) -> None:
    view = make_view([answer("before [a link](https://example.org) after")])
    spy = Spy(view)
    port, start = view.viewport(), point_of(view, 0, "a link")
    QTest.mousePress(port, Qt.MouseButton.LeftButton, pos=start)
    QTest.mouseMove(port, start + QPoint(20, 0))
    QTest.mouseRelease(port, Qt.MouseButton.LeftButton, pos=start + QPoint(20, 0))
    assert spy.opened == []


def test_case_47_hovering_shows_the_true_address(make_view: MakeView) -> None:
    view = make_view([answer(LINKS)])
    view.actions_of.show_address("https://evil.example/?<img src=x>&b", QPoint(10, 10))
    assert QToolTip.text() == "<p style='white-space: pre-wrap'>https://evil.example/?&lt;img src=x&gt;&amp;b</p>"
    view.actions_of.show_address("", QPoint(10, 10))


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("https://a.example", True), ("HTTP://a.example", True), ("mailto:a@b", True), ("file:///x", False),
        ("//host/x", False), ("javascript:x", False), ("http:", True), ("https://[bad", False), ("\thttps://x", True),
        (" vbscript:x", False), ("data:text/html,x", False),
    ],
)  # fmt: skip
def test_schemes(address: str, allowed: bool) -> None:
    assert may_open(address) is allowed


def test_the_menu_offers_links_to_the_keyboard(make_view: MakeView) -> None:
    view = make_view([answer(LINKS)])
    spy = Spy(view)
    menu = view.actions_of.make_menu(0, QPointF(5, 5))
    (links,) = [action.menu() for action in menu.actions() if action.menu() is not None]
    assert isinstance(links, QMenu)
    offers = [action.text() for action in links.actions()]
    assert offers[:2] == ["Open https://example.org", "Copy file:///home/deck/.bashrc"]
    links.actions()[0].trigger()
    assert spy.opened == ["https://example.org"]
    menu.deleteLater()


def test_case_46_no_file_is_opened(make_view: MakeView, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = (
        f"![one]({pipe}) ![two](file://{pipe}) ![three](file:///dev/zero) ![four](qrc:/x.png) "
        f"![five](data:image/png;base64,AAAA)\n\n<img width=100000 height=100000 src={pipe}>\n\n"
        f"| ![six]({pipe}) |\n|---|\n"
    )
    view = make_view([answer(text), question(text, "q")])
    view.grab()
    with pytest.raises(OSError) as caught:
        os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    assert caught.value.errno == errno.ENXIO, "nobody has the pipe open"
    view.actions_of.select_all()
    copied = view.selected_text()
    assert "one two three four five" in copied
    assert "<img width=100000" in copied
    assert view.horizontalScrollBar().maximum() == 0


LONG = 1_000_000


@pytest.mark.parametrize("text", ["A" * LONG, "```\n" + "A" * LONG + "\n```"], ids=["text", "fence"])
def test_case_49_a_line_of_a_million_characters(make_view: MakeView, qtbot: QtBot, text: str) -> None:
    view = make_view([answer(text)])
    qtbot.waitUntil(lambda: view.content.unread() is None)
    view.grab()
    message = view.content.message(0)
    for laid_out in message.views.values():
        assert isinstance(laid_out, CodeView) or laid_out.length <= MAX_PARAGRAPH
    code = [one for one in message.views.values() if isinstance(one, CodeView)]
    assert all(len(one._layouts) < 300 for one in code)
    view.actions_of.select_all()
    assert view.selected_text() == "A" * LONG


def test_case_49_while_it_streams(make_view: MakeView) -> None:
    model = model_of([answer("", stats=None)])
    view = make_view(model)
    for end in range(0, 60_000, 3_000):
        model.update(answer("B" * end, stats=None))
        view.refresh()
        assert len(view.content.message(0).views) <= 64
    assert view.verticalScrollBar().value() == view.verticalScrollBar().maximum()


@pytest.mark.parametrize(
    "text",
    [
        "|a|b|c|d|e|f|g|h|\n" + "|-" * 8 + "|\n" + "|1|2|3|4|5|6|7|8|\n" * 2000,
        "|h" * 200 + "|\n" + "|-" * 200 + "|\n" + ("|cell" * 200 + "|\n") * 5,
        f"| a |\n|---|\n| {'word ' * 10_000} |\n",
    ],
    ids=["2,000 rows", "200 columns", "50 KB cell"],
)
def test_case_50_large_tables(make_view: MakeView, qtbot: QtBot, text: str) -> None:
    view = make_view([answer(text)])
    qtbot.waitUntil(lambda: view.content.unread() is None)
    view.grab()
    message = view.content.message(0)
    assert len(message.views) <= 64
    assert view.horizontalScrollBar().maximum() == 0
    assert all(one.natural_width <= view.content.column for one in message.views.values())
    view.actions_of.select_all()
    assert view.selected_text().count("\n") == text.count("\n") - 2


def test_case_53_control_characters_are_shown(make_view: MakeView) -> None:
    text = "a\x00b\x1b[31mc\x07 \ufffe \ud83d `x\x1by`\n\n```\n\x1b[0m\ud83d\n```\n\n| \x07 |\n|---|\n"
    view = make_view([answer(text), question(text, "q")])
    assert not view.grab().isNull()
