"""How a conversation fills the context: counted where the engine counted, estimated for the rest. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chat.rows import MessageRow
from app.chat.settings import ChatSettings, ContextPolicy
from engine.chat.records import Role

TOKENS_PER_CHARACTER = 1 / 3.6
"""Where no answer told better: a guess for English and code."""
CHARACTERS_OF_A_TURN = 16
"""What the template writes around a message, about."""
RESERVE = 1024
"""Tokens that are kept for an answer without a limit, at most a quarter of the context."""


class ContextUse(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of the context by what they are for. ``left_out`` messages at the beginning do not fit any more, or a
    summary stands for them, of ``summary`` tokens.
    """

    system: int
    history: int
    reserve: int
    limit: int
    exact: bool = False
    left_out: int = 0
    summary: int = 0

    @property
    def free(self) -> int:
        """What is left for more questions."""
        return max(0, self.limit - self.system - self.summary - self.history - self.reserve)

    @property
    def used(self) -> int:
        """System prompt, summary and history."""
        return self.system + self.summary + self.history


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """What texts take, and how much room there is for the messages.

    Attributes:
        rate: Tokens of a character.
        counted: Place of the last answer whose prompt was counted; None: there is none.
        system: Tokens of the system prompt.
        reserve: Tokens that are kept for the answer.
        room: Tokens that are left for the messages, with a summary of those before.
    """

    rate: float
    counted: int | None
    system: int
    reserve: int
    room: int

    def tokens(self, rows: Sequence[MessageRow]) -> float:
        """Of messages, about."""
        return self.rate * sum(map(_size, rows))

    def of_text(self, text: str) -> float:
        """Of a text, about."""
        return self.rate * len(text)


def context_use(rows: Sequence[MessageRow], settings: ChatSettings, n_ctx: int) -> ContextUse:
    """Of the shown branch, for the next answer, in a context of ``n_ctx`` tokens."""
    measured = measure(rows, settings, n_ctx)
    begin = beginning(rows, settings, n_ctx)
    summary = round(measured.of_text(rows[begin].summary)) if begin else 0
    counted = measured.counted if measured.counted is not None and _begun_at(rows, measured.counted) == begin else None
    total = _counted(rows, counted) if counted is not None else 0
    later = rows[begin:] if counted is None else rows[counted + 1 :]
    history = max(0, total - measured.system - summary) + round(measured.tokens(later))
    return ContextUse(
        system=measured.system,
        history=min(history, n_ctx),
        reserve=measured.reserve,
        limit=n_ctx,
        exact=counted is not None and not later,
        left_out=begin if settings.overflow is ContextPolicy.SUMMARISE else _left_out(rows, measured),
        summary=summary,
    )


def measure(rows: Sequence[MessageRow], settings: ChatSettings, n_ctx: int) -> Measure:
    """By the last answer whose prompt was counted, for an answer in a context of ``n_ctx`` tokens."""
    rate, counted = _rate(rows, settings)
    system = round(rate * len(settings.system_prompt))
    reserve = min(settings.max_tokens or RESERVE, n_ctx // 4)
    return Measure(rate=rate, counted=counted, system=system, reserve=reserve, room=n_ctx - reserve - system)


def beginning(rows: Sequence[MessageRow], settings: ChatSettings, n_ctx: int) -> int:
    """Place of the message that a prompt begins with where summaries stand for the turns before: the earliest one with
    which the rest fits, else the last that there is.
    """
    if settings.overflow is not ContextPolicy.SUMMARISE:
        return 0
    measured, places = measure(rows, settings, n_ctx), beginnings(rows)
    return next((place for place in places if fits(rows, place, measured)), places[-1])


def beginnings(rows: Sequence[MessageRow]) -> list[int]:
    """Places of all messages that a prompt can begin with: the first one, and those behind turns that can go."""
    return [0, *(place for place, row in enumerate(rows) if place and row.may_begin)]


def fits(rows: Sequence[MessageRow], place: int, measured: Measure) -> bool:
    """Whether there is room for the messages from ``place`` on, with their summary and an answer."""
    summary = measured.of_text(rows[place].summary) if place else 0.0
    return measured.tokens(rows[place:]) + summary <= measured.room


def _rate(rows: Sequence[MessageRow], settings: ChatSettings) -> tuple[float, int | None]:
    """Tokens of a character, and the last answer whose prompt was counted."""
    for number in range(len(rows) - 1, -1, -1):
        stats = rows[number].stats
        begun = _begun_at(rows, number)
        if stats is not None and stats.prompt_tokens and begun is not None:
            size = len(settings.system_prompt) + sum(map(_size, rows[begun:number]))
            size += len(rows[begun].summary) if begun else 0
            return min(max(stats.prompt_tokens / max(size, 1), 0.05), 2.0), number
    return TOKENS_PER_CHARACTER, None


def _begun_at(rows: Sequence[MessageRow], number: int) -> int | None:
    """Place of the message that the prompt of this answer began with; None when it is not there."""
    settings = rows[number].settings
    if settings is None or not settings.begun_at:
        return 0
    return next((place for place in range(number) if rows[place].id == settings.begun_at), None)


def _counted(rows: Sequence[MessageRow], number: int) -> int:
    stats = rows[number].stats
    return stats.prompt_tokens + stats.generated_tokens - stats.thinking_tokens if stats is not None else 0


def _left_out(rows: Sequence[MessageRow], measured: Measure) -> int:
    """How many messages go, whole turns, until the rest fits; the last question stays."""
    sizes = [measured.rate * _size(row) for row in rows]
    rest, dropped = sum(sizes), 0
    starts = [number for number, row in enumerate(rows) if row.role is Role.USER and number]
    for start in starts:
        if rest <= measured.room:
            break
        rest -= sum(sizes[dropped:start])
        dropped = start
    return dropped


def _size(row: MessageRow) -> int:
    return len(row.text) + CHARACTERS_OF_A_TURN
