"""The sequences of the KV cache and whose they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from engine.worker.prompt_cache import PromptCache

WORTH: Final = 64
"""Tokens. Fewer are sooner computed than copied."""


@dataclass(eq=False)
class Slot:
    """One sequence of the KV cache.

    Attributes:
        conversation: Whose tokens it holds; "": nobody's that would come back by name.
        temporary: The conversation never goes to a disk.
        busy: An answer is being written here.
        used: Grows with each use.
        written: Tokens that are in the conversation's file as well.
        wanted: Cells that an answer is sure to need here.
        scrap: What it holds is of other work than answers, and not worth keeping.
    """

    cache: PromptCache
    conversation: str = ""
    temporary: bool = False
    busy: bool = False
    used: int = 0
    written: int = 0
    wanted: int = 0
    scrap: bool = False

    @property
    def taken(self) -> int:
        """Cells that nobody else can have."""
        return max(len(self.cache.tokens), self.wanted)

    def holds(self, conversation: str) -> bool:
        """It holds tokens of this conversation, which has a name."""
        return bool(conversation and self.cache.tokens) and self.conversation == conversation

    def empty(self) -> None:
        """Forget everything."""
        self.cache.clear()
        self.conversation, self.temporary, self.written, self.scrap = "", False, 0, False


def best_slot(slots: Iterable[Slot], conversation: str, prompt: Sequence[int]) -> Slot:
    """The free slot to answer ``prompt`` in.

    The conversation's own; else one that spares much (anything, where the conversation has no name); else an empty one;
    else the one that was not used for the longest time.

    Raises:
        ValueError: All are busy.
    """

    def rank(slot: Slot) -> tuple[bool, int, bool, int]:
        own = slot.holds(conversation)
        spared, held = slot.cache.usable(prompt), len(slot.cache.tokens)
        much = own or not conversation or spared >= WORTH
        return own, spared if much else 0, not held, -slot.used

    return max((slot for slot in slots if not slot.busy), key=rank)
