"""Asking the model for a summary of turns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from app.chat.engine_seam import AnswerEngine
from app.chat.summaries import Piece, longest
from engine.chat.temporary import is_temporary
from engine.protocol.caching import Overflow
from engine.protocol.frames import Delta, Failed, Finished, Progress
from engine.protocol.types import FinishReason, Sampling, Thinking

SUMMARISING: Final = "Summarising earlier messages"
SOBER: Final = Sampling(temperature=0.0)


def ask_for_summary(
    engine: AnswerEngine,
    piece: Piece,
    conversation: str,
    take: Callable[[Delta], None],
    tell: Callable[[Progress], None],
    done: Callable[[Finished | Failed], None],
    sampling: Sampling = SOBER,
) -> int:
    """Have ``piece`` of ``conversation`` summarised. Returns the id of the request."""
    model = engine.model
    return engine.generate(
        piece.prompt,
        sampling,
        longest(0 if model is None else model.n_ctx),
        (),
        take,
        tell,
        done,
        thinking=Thinking(enabled=False),
        conversation="" if is_temporary(conversation) else conversation,
        overflow=Overflow.SHIFT,
    )


def words_of(progress: Progress) -> str:
    """A line for the message; "" where this step says nothing."""
    if progress.stage != "prompt" or progress.total <= 0:
        return ""
    return f"{SUMMARISING}: {min(100, 100 * progress.done // progress.total)} % read"


def is_whole(event: Finished | Failed) -> bool:
    """Whether what was written is a summary, not what was left of one."""
    return isinstance(event, Finished) and event.reason in (FinishReason.STOP, FinishReason.LENGTH)
