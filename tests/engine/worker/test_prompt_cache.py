"""Which tokens can be reused, on a KV cache played by a list."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.worker.prompt_cache import PromptCache, common_prefix


class FakeMemory:
    """Positions as llama.cpp keeps them. ``drops_tails`` false: a recurrent state."""

    def __init__(self, *, drops_tails: bool = True, window: int = 0) -> None:
        self.length = 0
        self.drops_tails = drops_tails
        self.window = window

    def llama_get_memory(self, _context: object) -> FakeMemory:
        return self

    def llama_memory_seq_rm(self, _memory: object, _sequence: int, start: int, _end: int) -> bool:
        if start < self.length and not self.drops_tails:
            return False
        self.length = min(self.length, start)
        return True

    def llama_memory_clear(self, _memory: object, _data: bool) -> None:
        self.length = 0

    def llama_memory_seq_pos_min(self, _memory: object, _sequence: int) -> int:
        return max(0, self.length - self.window) if self.window else 0


def cache_of(memory: FakeMemory, tokens: list[int], **options: Any) -> PromptCache:
    settings = {"n_swa": memory.window, "recurrent": not memory.drops_tails, **options}
    cache = PromptCache(SimpleNamespace(api=memory), None, **settings)  # type: ignore[arg-type]
    cache.tokens = list(tokens)
    memory.length = len(tokens)
    return cache


def test_the_common_beginning_is_kept() -> None:
    memory = FakeMemory()
    cache = cache_of(memory, [1, 2, 3, 4])
    assert cache.reuse([1, 2, 9, 9, 9]) == 2
    assert (cache.tokens, memory.length) == ([1, 2], 2)


def test_the_last_prompt_token_is_computed_again() -> None:
    cache = cache_of(FakeMemory(), [1, 2, 3])
    assert cache.reuse([1, 2, 3]) == 2


def test_a_recurrent_state_is_kept_only_as_a_whole() -> None:
    memory = FakeMemory(drops_tails=False)
    assert cache_of(memory, [1, 2, 3]).reuse([1, 2, 3, 4]) == 3
    assert cache_of(memory, [1, 2, 3]).reuse([1, 2, 4, 4]) == 0
    assert memory.length == 0


def test_a_window_that_has_moved_on_is_not_reused() -> None:
    memory = FakeMemory(window=4)
    assert cache_of(memory, list(range(20))).reuse([*range(10), 99]) == 0
    assert cache_of(memory, list(range(20))).reuse([*range(20), 99]) == 20


def test_an_aborted_recurrent_state_is_forgotten() -> None:
    memory = FakeMemory(drops_tails=False)
    cache = cache_of(memory, [1, 2])
    cache.after_abort()
    assert (cache.tokens, memory.length) == ([], 0)


TOKENS = st.lists(st.integers(0, 2), max_size=12)


@given(TOKENS, TOKENS.filter(bool), st.booleans(), st.sampled_from([0, 3]))
def test_cache_and_tokens_agree_and_something_is_left_to_compute(
    old: list[int], prompt: list[int], drops_tails: bool, window: int
) -> None:
    memory = FakeMemory(drops_tails=drops_tails, window=window)
    cache = cache_of(memory, old)
    kept = cache.reuse(prompt)
    assert kept == len(cache.tokens) == memory.length
    assert cache.tokens == prompt[:kept]
    assert kept < len(prompt)


@given(TOKENS, TOKENS)
def test_common_prefix(left: list[int], right: list[int]) -> None:
    count = common_prefix(left, right)
    assert left[:count] == right[:count]
    assert count in {len(left), len(right)} or left[count] != right[count]
