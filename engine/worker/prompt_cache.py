"""Which tokens one sequence of the KV cache holds, and how much of it the next prompt can use."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from mmap import mmap
from operator import eq
from typing import Final, NamedTuple

from engine.worker.native import Llama, Pointer
from engine.worker.sequence_state import SequenceState

CHECKPOINTS: Final = 3
"""Copies of what a sequence cannot go back to by itself. One is of the last prompt, the others of those before."""

ANCHOR: Final = 64
"""So many equal tokens say that a text was found again."""


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Number of equal tokens at the start."""
    shorter = min(len(left), len(right))
    if left[:shorter] == right[:shorter]:
        return shorter
    return sum(1 for _ in takewhile(bool, map(eq, left, right)))


def _find(tokens: Sequence[int], part: Sequence[int], start: int) -> int | None:
    """Where ``part`` stands in ``tokens``, at ``start`` or later."""
    if len(part) < ANCHOR:
        return None
    length, first = len(part), part[0]
    places = range(start, len(tokens) - length + 1)
    return next((at for at in places if tokens[at] == first and tokens[at : at + length] == part), None)


class Checkpoint(NamedTuple):
    """The part of a state that moves on with each token, as it was behind ``length`` tokens."""

    length: int
    data: mmap


def last_before(checkpoints: Sequence[Checkpoint], length: int) -> int:
    """The place of the last checkpoint that is not behind ``length``; 0: there is none."""
    return max((point.length for point in checkpoints if point.length <= length), default=0)


class PromptCache:
    """The KV cache of one sequence. `tokens` always says what is in it.

    Args:
        n_swa: Tokens of the sliding window; 0: none.
        recurrent: The state of the model, or a part of it, only goes forward.
        alone: No other sequence is in this context.
    """

    def __init__(
        self, llama: Llama, context: Pointer, *, n_swa: int, recurrent: bool, sequence: int = 0, alone: bool = True
    ) -> None:
        self._api = llama.api
        self._memory: Pointer = self._api.llama_get_memory(context)
        self._n_swa = n_swa
        self.recurrent = recurrent
        self._alone = alone
        self.sequence = sequence
        self.state = SequenceState(llama.api, context, sequence)
        self.tokens: list[int] = []
        self.checkpoints: list[Checkpoint] = []

    @property
    def goes_back(self) -> bool:
        """A tail of any length can be dropped."""
        return not (self.recurrent or self._n_swa)

    def usable(self, prompt: Sequence[int]) -> int:
        """How many tokens `reuse` would keep."""
        keep = min(common_prefix(self.tokens, prompt), len(prompt) - 1)
        if keep == len(self.tokens) or not (self.recurrent or self._window_has_moved(keep)):
            return keep
        return last_before(self.checkpoints, keep)

    def usable_of(self, tokens: Sequence[int], checkpoints: Sequence[Checkpoint], prompt: Sequence[int]) -> int:
        """The same of a copy, which holds no more than the sliding window."""
        keep = min(common_prefix(tokens, prompt), len(prompt) - 1)
        if keep == len(tokens) or self.goes_back or (not self.recurrent and len(tokens) <= self._n_swa):
            return keep
        return last_before(checkpoints, keep)

    def reuse(self, prompt: Sequence[int]) -> int:
        """Keep the longest common beginning and drop the rest. Gives the number of tokens kept.

        The last prompt token is always computed again, because its logits are needed. A cache that cannot drop a tail
        (recurrent models), or whose sliding window has moved past the common part, goes back to a checkpoint, and is
        emptied where there is none.
        """
        return self.keep(min(common_prefix(self.tokens, prompt), len(prompt) - 1))

    def keep(self, length: int) -> int:
        """Keep ``length`` tokens, or fewer where the cache cannot go back so far. Gives the number of tokens kept."""
        if length < len(self.tokens) and self._window_has_moved(length):
            self._go_back(length)
        else:
            self.truncate(length)
        return len(self.tokens)

    def reuse_shifted(self, prompt: Sequence[int]) -> None:
        """Take out what ``prompt`` has left out behind the part both begin with, if much of the rest is there.

        What moves up was computed with the missing tokens before it, so its values are near those of a new computation
        but not the same. `reuse` does the rest.
        """
        begin = common_prefix(self.tokens, prompt)
        found = _find(self.tokens, prompt[begin : begin + ANCHOR], begin + 1)
        if found is not None and common_prefix(self.tokens[found:], prompt[begin:]) >= ANCHOR:
            self.drop(begin, found)

    def truncate(self, length: int) -> None:
        """Keep ``length`` tokens; where the cache cannot drop a tail, as many as a checkpoint has, or none."""
        if length > 0 and self._api.llama_memory_seq_rm(self._memory, self.sequence, length, -1):
            self._forget_behind(length)
        else:
            self._go_back(length)

    def after_abort(self) -> None:
        """Make the cache agree with `tokens` again after a decode call that did not finish."""
        if self.recurrent:
            self._go_back(len(self.tokens))
        else:
            self.truncate(len(self.tokens))

    def clear(self) -> None:
        """Forget everything."""
        if self._alone:
            self._api.llama_memory_clear(self._memory, False)
        else:
            self._api.llama_memory_seq_rm(self._memory, self.sequence, -1, -1)
        self.tokens.clear()
        self.checkpoints.clear()

    def checkpoint(self) -> None:
        """Remember the present place, so that a later prompt can go on from here. Only where that is needed."""
        length = len(self.tokens)
        if self.goes_back or not length or any(point.length == length for point in self.checkpoints):
            return
        data = self.state.copy(moving_part=True)
        if data is not None:
            self.checkpoints = [*self.checkpoints[1 - CHECKPOINTS :], Checkpoint(length, data)]

    def put(self, tokens: Sequence[int], data: memoryview, checkpoints: Sequence[Checkpoint] = ()) -> bool:
        """Take a whole state in; false: it does not fit, and nothing is in the sequence now."""
        self.clear()
        if not self.state.put(data):
            self.clear()
            return False
        self.tokens[:] = tokens
        self.checkpoints[:] = checkpoints
        return True

    def drop(self, start: int, end: int) -> bool:
        """Take the tokens from ``start`` to ``end`` out and let those behind move up; false: this memory cannot."""
        memory, api = self._memory, self._api
        if not self.goes_back or not api.llama_memory_can_shift(memory):
            return False
        if not api.llama_memory_seq_rm(memory, self.sequence, start, end):
            return False
        api.llama_memory_seq_add(memory, self.sequence, end, -1, start - end)
        del self.tokens[start:end]
        return True

    def _go_back(self, length: int) -> None:
        """To the last checkpoint that is not behind ``length``."""
        point = next((point for point in reversed(self.checkpoints) if point.length <= length), None)
        if (
            point is not None
            and self.state.put(memoryview(point.data), moving_part=True)
            and self._api.llama_memory_seq_rm(self._memory, self.sequence, point.length, -1)
        ):
            self._forget_behind(point.length)
        else:
            self.clear()

    def _forget_behind(self, length: int) -> None:
        del self.tokens[length:]
        self.checkpoints = [point for point in self.checkpoints if point.length <= length]

    def _window_has_moved(self, keep: int) -> bool:
        if not self._n_swa:
            return False
        oldest: int = self._api.llama_memory_seq_pos_min(self._memory, self.sequence)
        return oldest > max(0, keep - self._n_swa)
