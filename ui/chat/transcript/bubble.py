"""Measures around the words of a message: its head, its foot, and how wide the bubble of a user's message is."""

from __future__ import annotations

from math import ceil

from ui.chat.transcript.look import Look
from ui.chat.transcript.row import Row, is_user

BUBBLE_SHARE = 0.86
"""Widest bubble, as a share of the column."""
NARROW_SHARE = 0.5
"""The same where the column is too narrow for all the buttons beside it."""
ROOM_FOR_BUTTONS = 192
"""Pixels left of the widest bubble; they grow with the text, but buttons never shrink with it."""


def head_height(look: Look, row: Row) -> float:
    """Gap above, author, room below, and the bubble's upper padding."""
    name = ceil(look.small_metrics.height())
    return look.message_gap + name + look.px(6) + (look.bubble_padding[1] if is_user(row) else 0)


def foot_height(look: Look, row: Row) -> float:
    """The row of buttons and figures; a user's buttons stand beside the bubble, only its lower padding is here."""
    if not is_user(row):
        return look.target + look.px(2)
    versions = look.target if row.versions > 1 else 0
    return look.bubble_padding[1] + look.px(4) + versions


def widest(look: Look, column: float) -> float:
    """Width of the largest bubble, its padding included."""
    beside = column - max(ROOM_FOR_BUTTONS, look.px(ROOM_FOR_BUTTONS))
    return max(column * NARROW_SHARE, min(column * BUBBLE_SHARE, beside))
