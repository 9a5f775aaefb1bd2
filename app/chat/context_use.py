"""How a conversation fills the context: counted where the engine counted, estimated for the rest. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chat.rows import MessageRow
from app.chat.settings import ChatSettings
from engine.chat.records import Role

TOKENS_PER_CHARACTER = 1 / 3.6
"""Where no answer told better: a guess for English and code."""
CHARACTERS_OF_A_TURN = 16
"""What the template writes around a message, about."""
RESERVE = 1024
"""Tokens that are kept for an answer without a limit, at most a quarter of the context."""


class ContextUse(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of the context by what they are for. ``left_out`` messages at the beginning do not fit any more."""

    system: int
    history: int
    reserve: int
    limit: int
    exact: bool = False
    left_out: int = 0

    @property
    def free(self) -> int:
        """What is left for more questions."""
        return max(0, self.limit - self.system - self.history - self.reserve)

    @property
    def used(self) -> int:
        """System prompt and history."""
        return self.system + self.history


def context_use(rows: Sequence[MessageRow], settings: ChatSettings, n_ctx: int) -> ContextUse:
    """Of the shown branch, for the next answer, in a context of ``n_ctx`` tokens."""
    rate, counted = _rate(rows, settings)
    system = round(rate * len(settings.system_prompt))
    total = _counted(rows, counted) if counted is not None else 0
    later = rows if counted is None else rows[counted + 1 :]
    history = max(0, total - system) + round(rate * sum(map(_size, later)))
    reserve = min(settings.max_tokens or RESERVE, n_ctx // 4)
    left_out = _left_out(rows, rate, n_ctx - reserve - system)
    exact = counted is not None and not later
    return ContextUse(
        system=system, history=min(history, n_ctx), reserve=reserve, limit=n_ctx, exact=exact, left_out=left_out
    )


def _rate(rows: Sequence[MessageRow], settings: ChatSettings) -> tuple[float, int | None]:
    """Tokens of a character, and the last answer whose prompt was counted."""
    for number in range(len(rows) - 1, -1, -1):
        stats = rows[number].stats
        if stats is not None and stats.prompt_tokens:
            size = len(settings.system_prompt) + sum(map(_size, rows[:number]))
            return min(max(stats.prompt_tokens / size, 0.05), 2.0), number
    return TOKENS_PER_CHARACTER, None


def _counted(rows: Sequence[MessageRow], number: int) -> int:
    stats = rows[number].stats
    return stats.prompt_tokens + stats.generated_tokens - stats.thinking_tokens if stats is not None else 0


def _left_out(rows: Sequence[MessageRow], rate: float, room: float) -> int:
    """How many messages go, whole turns, until the rest fits; the last question stays."""
    sizes = [rate * _size(row) for row in rows]
    rest, dropped = sum(sizes), 0
    starts = [number for number, row in enumerate(rows) if row.role is Role.USER and number]
    for start in starts:
        if rest <= room:
            break
        rest -= sum(sizes[dropped:start])
        dropped = start
    return dropped


def _size(row: MessageRow) -> int:
    return len(row.text) + CHARACTERS_OF_A_TURN
