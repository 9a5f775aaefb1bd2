"""Copies of sequences in RAM: the budget, the RAM that is left, who goes first."""

from __future__ import annotations

from mmap import mmap

from hypothesis import given
from hypothesis import strategies as st

from engine.worker.kept_states import RESERVE, KeptState, KeptStates
from engine.worker.prompt_cache import ANCHOR, PromptCache
from tests.engine.worker.test_prompt_cache import FakeMemory, cache_of

PAGE = 4096


def state(conversation: str, tokens: list[int] | None = None, pages: int = 1) -> KeptState:
    return KeptState(conversation, tokens or [1, 2], mmap(-1, pages * PAGE))


def names(kept: KeptStates) -> list[str]:
    return [one.conversation for one in kept]


def keep(kept: KeptStates, *states: KeptState) -> None:
    for one in states:
        if kept.make_room(one.size):
            kept.put(one)


def test_the_oldest_copy_goes_when_the_budget_is_spent() -> None:
    kept = KeptStates(3 * PAGE, lambda: None)
    keep(kept, state("a"), state("b"), state("c"), state("d"))
    assert names(kept) == ["b", "c", "d"]
    assert kept.size == 3 * PAGE


def test_what_never_fits_costs_nobody_his_place() -> None:
    kept = KeptStates(2 * PAGE, lambda: None)
    keep(kept, state("a"), state("b", pages=3))
    assert names(kept) == ["a"]


def test_without_a_budget_nothing_is_kept() -> None:
    kept = KeptStates(0, lambda: None)
    keep(kept, state("a"))
    assert names(kept) == []


def test_ram_that_is_short_ends_it() -> None:
    available = [RESERVE + PAGE]
    kept = KeptStates(10 * PAGE, lambda: available[0])
    keep(kept, state("a"))
    available[0] = RESERVE + PAGE - 1
    keep(kept, state("b"))
    assert names(kept) == []


def test_a_longer_copy_of_the_same_talk_takes_the_place_of_the_shorter_one() -> None:
    kept = KeptStates(10 * PAGE, lambda: None)
    keep(kept, state("a", [1, 2]), state("b", [1, 2]), state("a", [1, 9]), state("a", [1, 2, 3]))
    assert [(one.conversation, one.tokens) for one in kept] == [("b", [1, 2]), ("a", [1, 9]), ("a", [1, 2, 3])]
    kept.forget("a")
    assert names(kept) == ["b"]


@given(st.lists(st.integers(1, 5), max_size=20), st.integers(0, 12))
def test_the_budget_always_holds(pages: list[int], budget: int) -> None:
    kept = KeptStates(budget * PAGE, lambda: None)
    for number, count in enumerate(pages):
        keep(kept, state(str(number), pages=count))
        assert kept.size <= budget * PAGE
    if pages and pages[-1] <= budget:
        assert names(kept)[-1] == str(len(pages) - 1)


class Movable(FakeMemory):
    """A memory that can take a part out."""

    def llama_memory_can_shift(self, _memory: object) -> bool:
        return True

    def llama_memory_seq_rm(self, memory: object, sequence: int, start: int, end: int) -> bool:
        if end < 0:
            return super().llama_memory_seq_rm(memory, sequence, start, end)
        self.gap = end - start
        return True

    def llama_memory_seq_add(self, _memory: object, _sequence: int, start: int, end: int, delta: int) -> None:
        assert (end, delta) == (-1, -self.gap)
        self.length += delta


def shifted(tokens: list[int], prompt: list[int]) -> PromptCache:
    cache = cache_of(Movable(), tokens)
    cache.reuse_shifted(prompt)
    return cache


def test_what_was_left_out_of_a_prompt_is_taken_out_of_the_cache() -> None:
    head, gone, rest = list(range(10)), list(range(100, 140)), list(range(200, 300))
    cache = shifted([*head, *gone, *rest], [*head, *rest, 7])
    assert cache.tokens == [*head, *rest]
    assert cache.reuse([*head, *rest, 7]) == 110


def test_too_little_that_is_equal_is_not_moved() -> None:
    head, gone, rest = list(range(10)), list(range(100, 140)), list(range(200, 200 + ANCHOR - 1))
    tokens = [*head, *gone, *rest]
    assert shifted(tokens, [*head, *rest, 7, 8]).tokens == tokens
