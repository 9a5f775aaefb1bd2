"""The gallery: every construct is there, fits the column, and is the same however it came."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest

from app.chat.rows import MessageRow
from engine.chat.graphemes import clusters
from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.gallery import ANSWERS, ASKED, CODE, FORMULAS, SCRIPTS, TEXTS, THOUGHT
from tests.ui.transcript.samples import answer, parts_of, question, streamed
from ui.chat.transcript.blocks import Code, Formula, Paragraph, Part, Rule, Style, Table
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme, ThemeMode


def rows() -> list[MessageRow]:
    shown = [question(ASKED)]
    shown += [answer(text, f"a{n}", thinking=THOUGHT, thought_s=3.0) for n, text in enumerate(ANSWERS)]
    return shown


def styles(parts: list[Part]) -> Style:
    found = Style.PLAIN
    for part in parts:
        if isinstance(part, Paragraph):
            for span in part.content.spans:
                found |= span.style
    return found


def test_every_construct_is_there() -> None:
    parts = parts_of(TEXTS)
    wanted = Style.BOLD | Style.ITALIC | Style.STRIKE | Style.CODE | Style.LINK | Style.PICTURE | Style.RAISED
    assert styles(parts) & wanted == wanted
    assert {part.level for part in parts if isinstance(part, Paragraph)} >= {0, 1, 2, 3}
    assert {"•", "1.", "[x]", "[ ]"} <= {part.marker for part in parts}
    assert {"q", "qq", "lll"} <= {part.frames for part in parts}
    assert any(isinstance(part, Rule) for part in parts)
    (table,) = [part for part in parts if isinstance(part, Table)]
    assert table.aligns == "lcrl"
    assert [part.language for part in parts_of(CODE) if isinstance(part, Code)] == ["python", "", "c++", "sh"]
    formulas = parts_of(FORMULAS)
    assert len([part for part in formulas if isinstance(part, Formula)]) == 2
    assert styles(formulas) & Style.MATH


@pytest.mark.parametrize("text", ANSWERS)
@pytest.mark.parametrize("step", [1, 7])
def test_streamed_it_ends_as_it_came_whole(text: str, step: int) -> None:
    assert streamed(text, step=step) == parts_of(text)


INSIDE = [
    "\\[\na\n- b\n\\]\n\nEnd",
    "$$\n# a\n1. b\n$$\n\nEnd",
    "- x\n\n  \\[\n  a\n  > b\n  \\]\n\nEnd",
    "> $$\n> a\n> ---\n> $$\n\nEnd",
    "\\[\n\\begin{align}\na &= b\n\\end{align}\n\\]\n\nEnd",
    "$$ open\n- and never closed\n\nEnd\n\n- x\n",
]


@pytest.mark.parametrize("text", INSIDE)
@pytest.mark.parametrize("step", [1, 2, 5])
def test_what_looks_like_blocks_in_an_open_formula_is_not_kept(text: str, step: int) -> None:
    assert streamed(text, step=step) == parts_of(text)


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
@pytest.mark.parametrize("scale", [1.0, 1.5])
@pytest.mark.parametrize("width", [420, 1000])
def test_all_of_it_fits_the_column(
    make_view: MakeView, theme: Theme, mode: ThemeMode, scale: float, width: int
) -> None:
    theme.set_mode(mode)
    theme.set_scale(scale)
    view = make_view(rows(), width, 800)
    for row in range(len(view.content.rows)):
        message = view.content.message(row)
        for section in range(message.sections):
            assert message.measure(section) > 0
    bar = view.verticalScrollBar()
    for place in range(bar.minimum(), bar.maximum() + 1, 700):
        bar.setValue(place)
        view.refresh()
        image = view.grab().toImage()
        assert colours(image) > 8
    assert view.horizontalScrollBar().maximum() == 0


def colours(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 5) for y in range(0, image.height(), 5)})


def ink_edges(view: CodeView) -> tuple[int, int]:
    """First and last painted column of the block's second line."""
    image = QImage(round(view.width), round(view.height), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    view.paint(painter, QRectF(image.rect()), None)
    painter.end()
    y0 = round(view.head)
    ground = image.pixel(image.width() // 2, y0 + 1)
    found = [
        x for x in range(8, image.width() - 8)
        if any(image.pixel(x, y) != ground for y in range(y0, y0 + round(view.look.code_line)))
    ]  # fmt: skip
    return found[0], found[-1]


def test_code_begins_at_the_left_whatever_is_written(make_view: MakeView) -> None:
    view = make_view([answer("```\nשלום = מרחק\n```"), answer("```\nname = value\n```", "b")])
    edges = [ink_edges(code) for code in code_views(view)]
    assert len(edges) == 2
    assert max(left for left, _ in edges) < 40
    assert max(right for _, right in edges) < view.content.column / 2


def test_code_beside_right_to_left_words_stays_in_order(make_view: MakeView) -> None:
    text = 'a = "שלום"  # מרחק'
    (code,) = code_views(make_view([answer(f"```\n{text}\n```")]))
    places = [code.caret(text.index(letter)).left() for letter in "a=#"]
    strings = [code.caret(position).left() for position in (5, 9)]
    comment = code.caret(len(text)).left()
    assert places[1] < min(strings) <= max(strings) < places[2]
    assert places[2] < comment


def test_bullets_stand_where_an_item_begins(make_view: MakeView) -> None:
    view = make_view([answer("- פריט\n- item")])
    message = view.content.message(0)
    mirrored, plain = message.parts
    assert (message.part_x(mirrored), message.part_x(plain)) == (0, view.content.look.indent)
    assert message.part_width(mirrored) == message.part_width(plain)


def code_views(view: TranscriptView) -> list[CodeView]:
    messages = [view.content.message(row) for row in range(len(view.content.rows))]
    views = [message.view(1) for message in messages]
    return [one for one in views if isinstance(one, CodeView)]


EMOJI = "👨‍👩‍👧🇩🇪👍🏽❤️é"


def test_the_caret_goes_over_whole_characters(make_view: MakeView) -> None:
    view = make_view([answer(EMOJI)])
    steps = list(clusters(EMOJI))
    assert len(steps) == 5
    view.selection.start((0, 1, 0))
    taken = ""
    for step in steps:
        QTest.keyClick(view, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
        taken += step
        assert view.selected_text() == taken
    for step in reversed(steps):
        QTest.keyClick(view, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
        taken = taken.removesuffix(step)
        assert view.selected_text() == taken


def test_directions_of_paragraphs(make_view: MakeView) -> None:
    view = make_view([answer(SCRIPTS)], 900, 900)
    message = view.content.message(0)
    right = [
        part.content.text[:4]
        for section, part in enumerate(message.parts)
        if isinstance(part, Paragraph) and message.view(section + 1).caret(0).left() > 0.6 * view.content.column
    ]
    assert right == ["שלום", "مرحب", "פריט"]


def test_a_press_anywhere_opens_nothing(make_view: MakeView) -> None:
    view = make_view(rows())
    opened: list[str] = []
    view.link_activated.connect(opened.append)
    for y in range(5, view.viewport().height(), 40):
        QTest.mouseClick(view.viewport(), Qt.MouseButton.RightButton, pos=QPoint(3, y))
    assert opened == []
