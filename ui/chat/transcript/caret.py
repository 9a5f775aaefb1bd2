"""Moves a spot through the text by keys."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QPointF

from engine.chat.graphemes import clusters
from ui.chat.transcript.layout import Layout
from ui.chat.transcript.selection import Spot, plain_text_of

LONGEST: Final = 64
"""Code points of what a reader takes for one character, at most."""
_WORD = re.compile(r"\w+|[^\w\s]+", re.UNICODE)


class CaretMover:
    """Steps by character, word, line and part, over the borders of parts and messages."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def text(self, spot: Spot) -> str:
        """Text of the section at ``spot``."""
        part = self._layout.message(spot[0]).part(spot[1])
        return plain_text_of(part) if part is not None else ""

    def neighbour(self, spot: Spot, step: int) -> Spot | None:
        """The nearest section with text above (-1) or below (1): its end or its start."""
        row, section = spot[0], spot[1] + step
        while 0 <= row < len(self._layout.rows):
            message = self._layout.message(row)
            if 0 < section < message.foot:
                candidate = (row, section, 0)
                if text := self.text(candidate):
                    return (row, section, len(text) if step < 0 else 0)
                section += step
            elif step < 0 and section >= message.foot:
                section = message.foot - 1
            elif step > 0 and section <= 0:
                section = 1
            else:
                row += step
                section = 0 if step > 0 else 1 << 30
        return None

    def by_character(self, spot: Spot, step: int) -> Spot:
        """One character on; the end of a part is followed by the start of the next."""
        text, position = self.text(spot), spot[2]
        if step > 0 and position < len(text):
            return spot[0], spot[1], position + len(next(clusters(text[position : position + LONGEST])))
        if step < 0 and position > 0:
            return spot[0], spot[1], _before(text, position)
        return self.neighbour(spot, step) or spot

    def by_word(self, spot: Spot, step: int) -> Spot:
        """To the next start (or end) of a word."""
        text = self.text(spot)
        if step > 0:
            ends = (match.end() for match in _WORD.finditer(text, spot[2]))
            target = next((end for end in ends if end > spot[2]), None)
        else:
            starts = [match.start() for match in _WORD.finditer(text, 0, spot[2])]
            target = starts[-1] if starts else None
        if target is None:
            return self.neighbour(spot, step) or spot
        return spot[0], spot[1], target

    def by_line(self, spot: Spot, step: int) -> Spot:
        """To the line above or below, at the same place across."""
        message = self._layout.message(spot[0])
        if message.part(spot[1]) is None:
            return self.neighbour(spot, step) or spot
        view = message.view(spot[1])
        place = view.caret(min(spot[2], view.length))
        y = place.top() - 2 if step < 0 else place.bottom() + 2
        target = view.position_at(QPointF(place.x(), y))
        if 0 <= y <= view.height and view.caret(target).top() != place.top():
            return spot[0], spot[1], target
        near = self.neighbour(spot, step)
        if near is None:
            return (spot[0], spot[1], 0 if step < 0 else view.length)
        other = self._layout.message(near[0]).view(near[1])
        return near[0], near[1], other.position_at(QPointF(place.x(), other.caret(near[2]).center().y()))

    def word_around(self, spot: Spot) -> tuple[Spot, Spot]:
        """The word that ``spot`` is in."""
        for match in _WORD.finditer(self.text(spot)):
            if match.start() <= spot[2] < match.end():
                return (*spot[:2], match.start()), (*spot[:2], match.end())
        return spot, spot

    def part_around(self, spot: Spot) -> tuple[Spot, Spot]:
        """The line of code, or the paragraph, that ``spot`` is in."""
        text = self.text(spot)
        start = text.rfind("\n", 0, spot[2]) + 1
        end = text.find("\n", spot[2])
        return (*spot[:2], start), (*spot[:2], len(text) if end < 0 else end)


def _before(text: str, position: int) -> int:
    """Where the character begins that ends at ``position``."""
    start = max(0, position - 4 * LONGEST)
    start = max(start, text.rfind(" ", start, position - 1) + 1, text.rfind("\n", start, position - 1) + 1)
    *_, last = clusters(text[start:position])
    return position - len(last)
