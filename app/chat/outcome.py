"""How an answer ended, from the engine's last event."""

from __future__ import annotations

import msgspec

from engine.chat.records import Message, Status
from engine.errors import VrambleError
from engine.protocol.frames import Failed, Finished
from engine.protocol.types import FinishReason, GenerationStats, ModelInfo

NO_TEXT = "The model gave no answer text."
THOUGHT_CUT = "The model was still thinking when its limit of tokens was reached."
THOUGHT_FULL = "The model was still thinking when the context was full."
CONTEXT_FULL = "The answer ends here because the context is full."
ENGINE_ERROR = "The engine reported an error in mid-answer."
NEW_CHAT = "Start a new chat."
_TOO_LONG = "context-exceeded"
_ENDED_BY_USER = frozenset({"cancelled", "stopped"})
"""Codes of `Failed` that are no failure: somebody wanted it."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Status, sentence for the user, figures and the engine's reason by name."""

    status: Status
    error: str | None = None
    stats: GenerationStats | None = None
    finish: str | None = None


def room_advice(model: ModelInfo | None) -> str:
    """What to do in the window when the context is full."""
    if model is None or model.n_ctx >= model.n_ctx_train:
        return NEW_CHAT
    return (
        "Start a new chat, or choose a longer context under Change load options in the list of models"
        f" (now {model.n_ctx}; this model was made for up to {model.n_ctx_train})."
    )


def outcome_of(event: Finished | Failed, text: str, advice: str = NEW_CHAT, *, stopping: bool) -> Outcome:
    """The outcome of an answer with this ``text``.

    Args:
        advice: What to do when the context is full (`room_advice`).
        stopping: The user pressed Stop.
    """
    if isinstance(event, Failed):
        if stopping or event.code in _ENDED_BY_USER:
            return Outcome(status=Status.STOPPED, error=None if stopping or text.strip() else event.message)
        next_step = advice if event.code == _TOO_LONG else event.next_step
        error = VrambleError(event.code, event.message, next_step).sentence
        return Outcome(status=Status.FAILED, error=error)
    finish = event.reason.value
    if event.reason is FinishReason.CANCELLED:
        return Outcome(status=Status.STOPPED, stats=event.stats, finish=finish)
    if event.reason is FinishReason.ERROR:
        return Outcome(status=Status.FAILED, error=ENGINE_ERROR, stats=event.stats, finish=finish)
    if not text.strip():
        return Outcome(status=Status.FAILED, error=_why_no_text(event, advice), stats=event.stats, finish=finish)
    full = f"{CONTEXT_FULL} {advice}" if event.reason is FinishReason.CONTEXT else None
    return Outcome(status=Status.DONE, error=full, stats=event.stats, finish=finish)


def _why_no_text(event: Finished, advice: str) -> str:
    if event.thinking_open and event.reason is FinishReason.LENGTH:
        return THOUGHT_CUT
    if event.thinking_open and event.reason is FinishReason.CONTEXT:
        return f"{THOUGHT_FULL} {advice}"
    return NO_TEXT


def with_earlier(resumed: Message | None, stats: GenerationStats | None) -> GenerationStats | None:
    """Figures of an answer in pieces: the tokens of all, the speed of the last one."""
    earlier = None if resumed is None else resumed.stats
    if earlier is None or stats is None:
        return stats or earlier
    return msgspec.structs.replace(
        stats,
        generated_tokens=earlier.generated_tokens + stats.generated_tokens,
        thinking_tokens=earlier.thinking_tokens + stats.thinking_tokens,
        drafted=earlier.drafted + stats.drafted,
        accepted=earlier.accepted + stats.accepted,
    )
