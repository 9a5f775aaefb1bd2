"""How an answer ended, from the engine's last event."""

from __future__ import annotations

import msgspec

from engine.chat.records import Status
from engine.errors import VrambleError
from engine.protocol.frames import Failed, Finished
from engine.protocol.types import FinishReason, GenerationStats

NO_TEXT = "The model gave no answer text."
CONTEXT_FULL = "The answer ends here because the context is full."
ENGINE_ERROR = "The engine reported an error in mid-answer."
_ENDED_BY_USER = frozenset({"cancelled", "stopped"})
"""Codes of `Failed` that are no failure: somebody wanted it."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Status, sentence for the user, figures and the engine's reason by name."""

    status: Status
    error: str | None = None
    stats: GenerationStats | None = None
    finish: str | None = None


def outcome_of(event: Finished | Failed, text: str, *, stopping: bool) -> Outcome:
    """The outcome of an answer with this ``text``. ``stopping``: the user pressed Stop."""
    if isinstance(event, Failed):
        if stopping or event.code in _ENDED_BY_USER:
            return Outcome(status=Status.STOPPED, error=None if stopping or text.strip() else event.message)
        error = VrambleError(event.code, event.message, event.next_step).sentence
        return Outcome(status=Status.FAILED, error=error)
    finish = event.reason.value
    if event.reason is FinishReason.CANCELLED:
        return Outcome(status=Status.STOPPED, stats=event.stats, finish=finish)
    if event.reason is FinishReason.ERROR:
        return Outcome(status=Status.FAILED, error=ENGINE_ERROR, stats=event.stats, finish=finish)
    if not text.strip():
        return Outcome(status=Status.FAILED, error=NO_TEXT, stats=event.stats, finish=finish)
    full = CONTEXT_FULL if event.reason is FinishReason.CONTEXT else None
    return Outcome(status=Status.DONE, error=full, stats=event.stats, finish=finish)
