"""Summaries in place of the oldest turns: what is to be summarised next, and how the model is asked. Pure.

A summary belongs to the message behind the turns that it stands for: these are the same for every branch through it, so
it holds for all of them, and an edit further up leaves it behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from app.chat.context_use import Measure, beginning, beginnings, measure
from app.chat.prompt import build_prompt
from app.chat.rows import row_of
from app.chat.settings import ChatSettings
from engine.chat.records import Message, Part, PartKind, Role
from engine.protocol.types import ChatMessage

LONGEST: Final = 512
"""Tokens of a summary, at most an eighth of the context."""
KEPT: Final = 0.5
"""Share of the room for messages that is not summarised: the next summary is then some questions away."""
WISH: Final = (
    "Summarise our conversation so far for yourself, so that you can go on without seeing it: what I want, what was"
    " found and decided, names, numbers and code that still matter, what is open. Write in the language of the"
    " conversation. Write only the summary."
)
LEAD: Final = "Summary of the conversation before the first message here:"
CUT: Final = "\n[…]\n"


class Summarised(NamedTuple):
    """What a prompt is made of: the system prompt with a summary, and the messages from the one that it begins with."""

    system_prompt: str
    messages: Sequence[Message]
    begun_at: str


class Piece(NamedTuple):
    """Turns that are to be summarised, as the model is asked; ``before``: the message that follows them."""

    prompt: tuple[ChatMessage, ...]
    before: str


class Thread:
    """The messages of a branch that is to be answered, with their summaries.

    Args:
        messages: Root first.
        n_ctx: Tokens of the context; None while it is not known.
    """

    def __init__(self, messages: Sequence[Message], settings: ChatSettings, n_ctx: int | None) -> None:
        self._messages = list(messages)
        self._rows = [row_of(message) for message in messages]
        self._settings, self._n_ctx = settings, n_ctx
        self._begin = beginnings(self._rows)[-1] if n_ctx is None else beginning(self._rows, settings, n_ctx)

    @property
    def prompt(self) -> Summarised:
        """What the model is asked with as it stands."""
        system, begin = self._settings.system_prompt, self._begin
        if not begin:
            return Summarised(system, self._messages, "")
        first = self._messages[begin]
        return Summarised(_joined(system, first.summary), self._messages[begin:], first.id)

    def learn(self, n_ctx: int) -> None:
        """The context is known now."""
        self._n_ctx = n_ctx

    def piece(self, *, forced: bool = False) -> Piece | None:
        """What to summarise next; None: the prompt fits, or nothing can be left out.

        Args:
            forced: The engine said that it does not fit, whatever the estimate says.
        """
        if self._n_ctx is None:
            return None
        measured = measure(self._rows, self._settings, self._n_ctx)
        size = measured.tokens(self._rows[self._begin :]) + measured.of_text(self._summary)
        starts = [place for place in range(self._begin + 1, len(self._rows)) if self._rows[place].role is Role.USER]
        if not starts or (size <= measured.room and not forced):
            return None
        return self._piece(self._end(starts, measured), measured)

    def piece_before(self, message: str) -> Piece | None:
        """The turns that the summary at ``message`` stands for, to be summarised again; None: there are none."""
        end = next((place for place, row in enumerate(self._rows) if row.id == message), 0)
        if self._n_ctx is None or not end:
            return None
        self._begin = max(place for place in beginnings(self._rows) if place < end)
        return self._piece(end, measure(self._rows, self._settings, self._n_ctx))

    def _piece(self, end: int, measured: Measure) -> Piece:
        turns = build_prompt(_joined(self._settings.system_prompt, self._summary), self._messages[self._begin : end])
        most = round(self._readable(measured) / measured.rate)
        wish = ChatMessage(role=Role.USER.value, content=WISH)
        return Piece((*_shortened(turns, most), wish), self._messages[end].id)

    def put(self, piece: Piece, summary: str) -> None:
        """The model made this of the turns in ``piece``; the prompt begins behind them."""
        place = next(place for place, message in enumerate(self._messages) if message.id == piece.before)
        message = self._messages[place]
        others = tuple(part for part in message.parts if part.kind != PartKind.SUMMARY)
        parts = (Part(PartKind.SUMMARY, summary), *others)
        self._messages[place] = msgspec.structs.replace(message, parts=parts)
        self._rows[place] = msgspec.structs.replace(self._rows[place], summary=summary, cut=False)
        self._begin = place

    @property
    def _summary(self) -> str:
        return self._rows[self._begin].summary if self._begin else ""

    def _end(self, starts: Sequence[int], measured: Measure) -> int:
        """Where the turns end that go: half of the room stays in use, and the model can read them at once."""
        rows, begin = self._rows, self._begin
        kept = KEPT * measured.room
        wanted = next((start for start in starts if measured.tokens(rows[start:]) <= kept), starts[-1])
        readable = self._readable(measured)
        read = [start for start in starts if start <= wanted and measured.tokens(rows[begin:start]) <= readable]
        return read[-1] if read else starts[0]

    def _readable(self, measured: Measure) -> float:
        """Tokens of turns that a request for a summary holds."""
        n_ctx = self._n_ctx or 0
        taken = measured.system + measured.of_text(self._summary + WISH) + longest(n_ctx)
        return max(n_ctx / 8, 0.9 * (n_ctx - taken))


def longest(n_ctx: int) -> int:
    """Tokens of a summary in such a context."""
    return min(LONGEST, max(32, n_ctx // 8))


def _joined(system_prompt: str, summary: str) -> str:
    return "\n\n".join(filter(str.strip, (system_prompt, f"{LEAD}\n{summary}" if summary else "")))


def _shortened(turns: Sequence[ChatMessage], most: int) -> tuple[ChatMessage, ...]:
    """The turns with at most so many characters: the middle of long ones goes."""
    spoken = [turn for turn in turns if turn.role != Role.SYSTEM.value]
    if sum(len(turn.content) for turn in spoken) <= most:
        return tuple(msgspec.structs.replace(turn, thinking="") for turn in turns)
    share = max(64, most // max(1, len(spoken)))
    return tuple(
        turn
        if turn.role == Role.SYSTEM.value or len(turn.content) <= share
        else ChatMessage(role=turn.role, content=turn.content[: share // 2] + CUT + turn.content[-(share // 2) :])
        for turn in turns
    )
