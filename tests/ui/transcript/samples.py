"""Rows and views for the transcript's tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.chat.rows import MessageRow
from app.chat.transcript import TranscriptModel
from engine.chat.records import Role, Status
from engine.protocol.types import GenerationStats
from ui.chat.transcript.blocks import Part
from ui.chat.transcript.budget import never
from ui.chat.transcript.parse import Limits, MarkdownStream
from ui.chat.transcript.selection import plain_text_of
from ui.chat.transcript.view import TranscriptView

STATS = GenerationStats(generated_tokens=312, decode_tps=41.2)
PARAGRAPH = "Some words of an answer that are long enough to be wrapped at the end of the column, more than once. " * 3


def question(text: str, name: str = "q") -> MessageRow:
    """A user's message."""
    return MessageRow(id=name, role=Role.USER, text=text, status=Status.DONE, author="You")


def answer(text: str, name: str = "a", **fields: Any) -> MessageRow:
    """A model's message."""
    given: dict[str, Any] = {"status": Status.DONE, "author": "Model", "stats": STATS} | fields
    return MessageRow(id=name, role=Role.ASSISTANT, text=text, **given)


def dialogue(count: int) -> list[MessageRow]:
    """Short questions and longer answers in turn."""
    return [
        question(f"Question {n}?", f"m{n}") if n % 2 == 0 else answer(f"## Answer {n}\n\n{PARAGRAPH}", f"m{n}")
        for n in range(count)
    ]


def model_of(rows: Sequence[MessageRow]) -> TranscriptModel:
    """A model that shows ``rows``."""
    model = TranscriptModel()
    model.reset(rows)
    return model


def parts_of(text: str, limits: Limits | None = None) -> list[Part]:
    """The parts of a whole Markdown text."""
    stream = MarkdownStream(limits or Limits())
    stream.set_text(text, final=True)
    stream.advance(never)
    return stream.parts


def streamed(text: str, limits: Limits | None = None, step: int = 1) -> list[Part]:
    """The parts of a text that came in portions of ``step`` characters."""
    stream = MarkdownStream(limits or Limits())
    for end in range(step, len(text) + step, step):
        stream.set_text(text[:end], final=False)
        stream.advance(never)
    stream.set_text(text, final=True)
    stream.advance(never)
    return stream.parts


def half_way(text: str) -> list[Part]:
    """What is shown while ``text`` is all that has come so far."""
    stream = MarkdownStream()
    stream.set_text(text, final=False)
    stream.advance(never)
    return stream.parts


def words(parts: Sequence[Part]) -> list[str]:
    """The plain texts of parts."""
    return [plain_text_of(part) for part in parts]


def buttons(view: TranscriptView, name: str) -> list[QAbstractButton]:
    """The buttons of one kind that are seen, from top to bottom."""
    found = [one for one in view.viewport().findChildren(QAbstractButton, name) if one.isVisible()]
    return sorted(found, key=lambda one: one.y())


def spots_of(view: TranscriptView, row: int) -> Iterator[QPointF]:
    """The left top corner of each part of a row that is seen."""
    for placed in view.content.placed:
        if placed.row == row and view.content.message(row).part(placed.section) is not None:
            yield view.scene.origin(placed)


def point_of(view: TranscriptView, row: int, text: str) -> QPoint:
    """The middle of the first letter of ``text`` in a row, in the viewport."""
    for placed in view.content.placed:
        part = view.content.message(row).part(placed.section) if placed.row == row else None
        if part is not None and text in plain_text_of(part):
            laid_out = view.content.message(row).view(placed.section)
            start = plain_text_of(part).index(text)
            box = laid_out.caret(start)
            after = laid_out.caret(start + 1)
            middle = QPointF((box.left() + after.left()) / 2, box.center().y())
            return (view.scene.origin(placed) + middle).toPoint()
    raise AssertionError(f"{text!r} is not seen")


def clipboard() -> str:
    """The text on the clipboard."""
    return QApplication.clipboard().text()
