"""Copies of sequences in the memory of the computer: conversations that are not in the KV cache now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from mmap import mmap
from typing import Final

from engine.worker.prompt_cache import Checkpoint

RESERVE: Final = 3 << 29
"""Bytes of RAM that stay available, 1.5 GiB: a copy must never push anything into swap."""


@dataclass(eq=False)
class KeptState:
    """One copy.

    Attributes:
        conversation: Whose it is; "": nobody's that would come back by name.
        temporary: It never goes to a disk.
        written: It lies on the disk already, or does not belong there.
    """

    conversation: str
    tokens: list[int]
    data: mmap
    checkpoints: tuple[Checkpoint, ...] = ()
    temporary: bool = False
    written: bool = False
    size: int = field(init=False)

    def __post_init__(self) -> None:
        self.size = len(self.data) + sum(len(point.data) for point in self.checkpoints)


class KeptStates:
    """Copies up to a budget; the one that was not used for the longest time goes first.

    Args:
        budget: Bytes of all copies together; 0: none are kept.
        available: Bytes of RAM that can be taken now; None unknown.
    """

    def __init__(self, budget: int, available: Callable[[], int | None]) -> None:
        self._budget, self._available = budget, available
        self._states: list[KeptState] = []

    def __iter__(self) -> Iterator[KeptState]:
        """Oldest first."""
        return iter(tuple(self._states))

    @property
    def size(self) -> int:
        """Bytes of all copies."""
        return sum(state.size for state in self._states)

    def make_room(self, size: int) -> bool:
        """Drop the oldest copies until ``size`` bytes fit into the budget; false: they never will, or RAM is short."""
        if size > self._budget:
            return False
        while self._states and self.size + size > self._budget:
            del self._states[0]
        while self._states and not self.fits(size):
            del self._states[0]
        return self.fits(size)

    def put(self, state: KeptState) -> None:
        """Keep ``state``, which `make_room` was asked for; it takes the place of those that it goes on from."""
        self._states = [other for other in self._states if not _goes_on_from(state, other)]
        self._states.append(state)

    def take(self, state: KeptState) -> None:
        """``state`` is in the KV cache now."""
        self._states.remove(state)

    def forget(self, conversation: str) -> None:
        """Drop what belongs to ``conversation``."""
        self._states = [state for state in self._states if state.conversation != conversation]

    def clear(self) -> None:
        """Drop everything."""
        self._states.clear()

    def fits(self, size: int) -> bool:
        """Whether RAM has room for ``size`` bytes more."""
        available = self._available()
        return available is None or size + RESERVE <= available


def _goes_on_from(state: KeptState, other: KeptState) -> bool:
    """Whether ``state`` holds everything that ``other`` does, for the same conversation."""
    return other.conversation == state.conversation and state.tokens[: len(other.tokens)] == other.tokens
