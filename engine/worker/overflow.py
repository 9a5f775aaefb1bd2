"""When the context is full: which turns a prompt leaves out, and how an answer gets room to go on.

Turns are left out in blocks, counted from the beginning of the conversation. So the same turns are missing for several
questions in a row, prompts of these begin alike, and the KV cache is of use; else each question would be computed
from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

from engine.protocol.types import ChatMessage
from engine.worker.messages import SYSTEM, USER

BLOCKS: Final = 4
"""Into so many blocks the context is divided."""

ANSWER_SHARE: Final = 4
"""The answer to a shortened prompt gets at least this fraction of the context, if it may be so long."""

MOST_CONTEXTS: Final = 8
"""An endless answer ends after so many contexts."""


def room_for_answer(n_ctx: int, max_tokens: int | None) -> int:
    """Tokens that a shortened prompt leaves free."""
    share = max(1, n_ctx // ANSWER_SHARE)
    return share if max_tokens is None else min(share, max(1, max_tokens))


def shorter(turns: Sequence[ChatMessage], n_ctx: int, count: Callable[[str], int]) -> Iterator[list[ChatMessage]]:
    """The conversation with more and more turns left out, the system message never, down to the last question.

    Args:
        turns: As `engine.worker.messages.normalise` gives them.
        count: Tokens of a text.
    """
    system = [turn for turn in turns[:1] if turn.role == SYSTEM]
    rest = list(turns[len(system) :])
    starts = [0, *accumulate(count(turn.content) for turn in rest)]
    block = max(1, n_ctx // BLOCKS)
    questions = [(start // block, place) for place, start in enumerate(starts[:-1]) if rest[place].role == USER]
    for (before, _), (number, place) in pairwise(questions):
        if number > before or place == questions[-1][1]:
            yield system + rest[place:]


def part_to_drop(length: int, head: int, n_ctx: int) -> tuple[int, int] | None:
    """First and last place (exclusive) of the tokens that go when an answer needs room: half of what follows the head.

    Args:
        length: Tokens in the context.
        head: Tokens at the beginning that stay: the system prompt.
    """
    kept = head if head <= n_ctx // 2 else 0
    dropped = (length - kept) // 2
    return (kept, kept + dropped) if dropped > 0 else None
