"""The memory page as rows of text: for the table, for screen readers, for the clipboard. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.memory.history import History
from engine.memory.records import MemorySnapshot
from ui.memory import page_words as words
from ui.memory.blocks import Block
from ui.memory.owners import Part
from ui.memory.page_words import tr
from ui.memory.series import HOST, subjects
from ui.memory.time_words import minute_rows
from ui.memory.words import gib


@dataclass(frozen=True)
class FigureRow:
    """One line: which memory, whose, how much, which part of the whole. ``heading`` begins a block."""

    where: str
    whose: str
    size: str = ""
    share: str = ""
    heading: bool = False

    @property
    def wide(self) -> bool:
        """A text without a figure, which may take the room of one."""
        return not (self.heading or self.size or self.share)

    def cells(self) -> tuple[str, ...]:
        """In the order of the columns."""
        return (self.where, self.whose, self.size, self.share)


def figure_rows(blocks: Sequence[Block], cards: dict[str, str]) -> tuple[FigureRow, ...]:
    """Everything that the bars, headings and notes say."""
    return tuple(row for block in blocks for row in _rows(block, cards))


def history_rows(snapshot: MemorySnapshot, history: History, card: str | None) -> tuple[FigureRow, ...]:
    """The last ten minutes of each memory, a row for each minute; ``card``: whose sensors stand beside the RAM."""
    points, markers = history.points, history.markers
    rows: list[FigureRow] = []
    for subject in subjects(snapshot):
        title = tr("Last 10 minutes: {memory}").format(memory=subject.title)
        minutes = minute_rows(subject, points, markers, card if subject.key == HOST else None)
        rows.append(FigureRow(title, "", gib(subject.total), heading=True))
        for minute in minutes:
            rows.append(FigureRow(minute.when, minute.what, minute.used))
            rows += [FigureRow("", event) for event in minute.events]
    return tuple(rows)


def as_text(rows: Sequence[FigureRow]) -> str:
    """Rows for the clipboard, readable in any text."""
    lines: list[str] = []
    for row in rows:
        if row.heading:
            lines += ["", row.where] if lines else [row.where]
            continue
        figures = ", ".join(text for text in (row.size, row.share) if text)
        text = ": ".join(text for text in (row.where, row.whose) if text)
        lines.append(f"  {text}: {figures}" if figures else f"  {text}")
    return "\n".join(lines) + "\n" if lines else ""


def _rows(block: Block, cards: dict[str, str]) -> list[FigureRow]:
    total = gib(block.bar.total) if block.bar is not None else ""
    rows = [FigureRow(block.title, "", total, heading=True)]
    if block.bar is not None:
        rows += [_part_row(part, block.bar.total, cards) for part in block.bar.parts]
    rows += [FigureRow(tr("Now"), fact) for fact in block.facts]
    rows += [FigureRow(tr("Note"), note) for note in block.notes]
    return rows


def _part_row(part: Part, total: int, cards: dict[str, str]) -> FigureRow:
    where = words.memory_name(part.region, part.card, cards)
    share = f"{100 * part.size / total:.1f} %" if total else ""
    return FigureRow(where, words.owner_name(part), gib(part.size), share)
