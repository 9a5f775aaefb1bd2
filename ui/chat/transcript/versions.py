"""The control ``‹ 2/2 ›`` at the foot of an message that was written more than once: its places, no widgets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ui.chat.transcript.look import Look
from ui.chat.transcript.row import Row, is_open, is_user


class Places(NamedTuple):
    """Left edges in pixels, counted from the column's: the button back, the words, the button on, what follows."""

    back: int
    words: int
    on: int
    end: int


def can_change(rows: Sequence[Row], row: Row) -> bool:
    """Whether other versions of ``row`` can be shown now: not while an answer of the conversation is being written."""
    return row.versions > 1 and not is_open(rows[-1])


def words_of(row: Row) -> str:
    """Which version it is, of how many."""
    return f"{row.version}/{row.versions}"


def places(look: Look, row: Row, column: float) -> Places:
    """Where the control of ``row`` stands: below an answer at the left, below a question at the right."""
    widest = f"{row.versions}/{row.versions}"
    back = -look.px(11)
    words = back + look.target
    on = words + int(look.small_metrics.horizontalAdvance(widest)) + look.px(4)
    shift = int(column) - on - look.target + look.px(11) if is_user(row) else 0
    return Places(back + shift, words + shift, on + shift, on + look.target + shift)


def foot_top(look: Look, row: Row) -> int:
    """How far below the top of the foot the control stands."""
    return look.bubble_padding[1] if is_user(row) else 0
