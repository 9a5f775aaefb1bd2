"""The memory page as rows of text: for the table, for screen readers, for the clipboard. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ui.memory import page_words as words
from ui.memory.blocks import Block
from ui.memory.owners import Part
from ui.memory.words import gib


@dataclass(frozen=True)
class FigureRow:
    """One line: which memory, whose, how much, which part of the whole. ``heading`` begins a block."""

    where: str
    whose: str
    size: str = ""
    share: str = ""
    heading: bool = False

    def cells(self) -> tuple[str, ...]:
        """In the order of the columns."""
        return (self.where, self.whose, self.size, self.share)


def figure_rows(blocks: Sequence[Block], cards: dict[str, str]) -> tuple[FigureRow, ...]:
    """Everything that the bars, headings and notes say."""
    return tuple(row for block in blocks for row in _rows(block, cards))


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
    rows += [FigureRow("", fact) for fact in block.facts]
    rows += [FigureRow("", note) for note in block.notes]
    return rows


def _part_row(part: Part, total: int, cards: dict[str, str]) -> FigureRow:
    where = words.memory_name(part.region, part.card, cards)
    share = f"{100 * part.size / total:.1f} %" if total else ""
    return FigureRow(where, words.owner_name(part), gib(part.size), share)
