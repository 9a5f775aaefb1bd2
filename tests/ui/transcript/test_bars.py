"""Bars of quotations and markers of list items, as they are painted."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor

from tests.ui.transcript.conftest import MakeView
from tests.ui.transcript.samples import answer
from ui.chat.transcript.view import TranscriptView


def gaps_in_the_bar(view: TranscriptView) -> int:
    """How many times the bar at the left of the answer is interrupted."""
    image = view.viewport().grab().toImage()
    x = round(view.scene.column_x + view.content.message(0).x) + 1
    bar = QColor(view.content.look.colour("hairline")).rgb()
    drawn = [image.pixel(QPoint(x, y)) == bar for y in range(image.height())]
    return sum(above and not below for above, below in pairwise(drawn)) - 1


def test_the_bar_of_one_quotation_is_whole_and_neighbours_have_their_own(make_view: MakeView) -> None:
    assert gaps_in_the_bar(make_view([answer("> a\n>\n> b\n>\n> > c\n")])) == 0
    assert gaps_in_the_bar(make_view([answer("> a\n\n> b\n>\n> c\n\n> d\n")])) == 2


def test_each_of_two_bullets_in_a_line_is_seen(make_view: MakeView) -> None:
    one, two = (make_view([answer(text)]) for text in ("- - a\n", "- b\n"))

    def inks(view: TranscriptView) -> list[bool]:
        """Which of the two columns of bullets hold something in the first line."""
        image, look = view.viewport().grab().toImage(), view.content.look
        placed = next(placed for placed in view.content.placed if placed.section == 1)
        rows = range(round(placed.y), round(placed.y + look.line))
        left = view.scene.column_x + view.content.message(0).x
        ground = QColor(look.colour("background")).rgb()
        edges = [round(left + number * look.indent) for number in range(3)]
        return [
            any(image.pixel(QPoint(x, y)) != ground for x in range(a, round(b - look.em * 0.5)) for y in rows)
            for a, b in pairwise(edges)
        ]

    assert inks(one) == [True, True]
    assert inks(two)[0] is True
