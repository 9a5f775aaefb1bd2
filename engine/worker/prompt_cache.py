"""Which tokens the KV cache holds, and how much of it the next prompt can use."""

from __future__ import annotations

from collections.abc import Sequence

from engine.worker.native import Llama, Pointer

SEQUENCE = 0


def common_prefix(left: Sequence[int], right: Sequence[int]) -> int:
    """Number of equal tokens at the start."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


class PromptCache:
    """The KV cache of the one sequence. `tokens` always says what is in it."""

    def __init__(self, llama: Llama, context: Pointer, *, n_swa: int, recurrent: bool) -> None:
        self._api = llama.api
        self._memory: Pointer = self._api.llama_get_memory(context)
        self._n_swa = n_swa
        self._recurrent = recurrent
        self.tokens: list[int] = []

    def reuse(self, prompt: Sequence[int]) -> int:
        """Keep the longest common beginning and drop the rest. Gives the number of tokens kept.

        The last prompt token is always computed again, because its logits are needed. A cache that cannot drop a tail
        (recurrent models), or whose sliding window has moved past the common part, is emptied.
        """
        keep = min(common_prefix(self.tokens, prompt), len(prompt) - 1)
        if keep < len(self.tokens) and self._window_has_moved(keep):
            keep = 0
        self.truncate(keep)
        return len(self.tokens)

    def truncate(self, length: int) -> None:
        """Keep ``length`` tokens; keep none if the cache cannot drop a tail."""
        if length > 0 and self._api.llama_memory_seq_rm(self._memory, SEQUENCE, length, -1):
            del self.tokens[length:]
        else:
            self.clear()

    def after_abort(self) -> None:
        """Make the cache agree with `tokens` again after a decode call that did not finish."""
        self.truncate(0 if self._recurrent else len(self.tokens))

    def clear(self) -> None:
        """Forget everything."""
        self._api.llama_memory_clear(self._memory, False)
        self.tokens.clear()

    def _window_has_moved(self, keep: int) -> bool:
        if not self._n_swa:
            return False
        oldest: int = self._api.llama_memory_seq_pos_min(self._memory, SEQUENCE)
        return oldest > max(0, keep - self._n_swa)
