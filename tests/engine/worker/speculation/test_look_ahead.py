"""What is written with guesses is what is written without them, whatever is guessed. The model is a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.worker.cancel import Stop
from engine.worker.prompt_cache import PromptCache
from engine.worker.speculation.length import GuessLength
from engine.worker.speculation.look_ahead import LookAhead

MOST = 6
VOCABULARY = 4


def says(told: Sequence[int]) -> int:
    """The next token, out of all that came before."""
    return (sum(place * token for place, token in enumerate(told, 1)) + len(told)) % VOCABULARY


class PlayedModel:
    """A KV cache and the tokens that the last call would lead to, by row."""

    def __init__(self) -> None:
        self.memory: list[int] = []
        self.rows: list[int] = []
        self.calls = 0
        self.room = 1000

    def llama_get_memory(self, _context: object) -> PlayedModel:
        return self

    def llama_memory_seq_rm(self, _memory: object, _sequence: int, start: int, _end: int) -> bool:
        del self.memory[start:]
        return True

    def llama_batch_get_one(self, tokens: Any, count: int) -> Any:
        return SimpleNamespace(token=tokens, n_tokens=count, logits=None)

    def llama_decode(self, _context: object, batch: Any) -> int:
        if batch.n_tokens > self.room:
            return 1
        self.calls += 1
        self.rows = []
        assert all(batch.logits[row] for row in range(batch.n_tokens))
        for row in range(batch.n_tokens):
            self.memory.append(batch.token[row])
            self.rows.append(says(self.memory))
        return 0


class PlayedDrafter:
    """Guesses what it is given; each guess holds true tokens up to a place."""

    def __init__(self, guesses: Sequence[tuple[int, int]]) -> None:
        self._guesses = list(guesses)
        self.asked: list[tuple[list[int], int]] = []

    def forget(self) -> None:
        return

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        assert not stop.is_set
        self.asked.append((list(tokens), most))
        length, right = self._guesses.pop(0) if self._guesses else (0, 0)
        told = [*tokens, last]
        guess: list[int] = []
        for place in range(min(length, most)):
            true = says([*told, *guess])
            guess.append(true if place < right else (true + 1) % VOCABULARY)
        return guess


class Writer:
    """Writes an answer as `Writing` does."""

    def __init__(self, drafter: PlayedDrafter) -> None:
        self.model, self.row = PlayedModel(), 0
        llama: Any = SimpleNamespace(api=self.model)
        self.cache = PromptCache(llama, None, n_swa=0, recurrent=False)
        self.ahead = LookAhead(llama, None, self.cache, drafter, GuessLength(1, MOST), self._look_in, MOST)
        self.model.memory, self.cache.tokens[:] = [1], [1]
        self.model.rows = [says([1])]

    def _look_in(self, row: int) -> None:
        self.row = row

    def write(self, count: int, on_token: Callable[[int], None] = lambda _written: None) -> list[int]:
        for written in range(count):
            token = self.model.rows[self.row]
            assert self.ahead.compute(token, count - written - 1) == 0
            on_token(written)
        self.ahead.settle()
        return self.cache.tokens[1:]


def plainly(count: int) -> list[int]:
    told = [1]
    for _ in range(count):
        told.append(says(told))
    return told[1:]


GUESSES = st.lists(st.tuples(st.integers(0, MOST), st.integers(0, MOST)), max_size=30)


@given(GUESSES, st.integers(1, 40))
def test_the_same_tokens(guesses: list[tuple[int, int]], count: int) -> None:
    writer = Writer(PlayedDrafter(guesses))
    assert writer.write(count) == plainly(count)
    assert writer.model.memory == writer.cache.tokens
    ahead = writer.ahead
    assert ahead.accepted <= ahead.drafted
    assert writer.model.calls == count - ahead.accepted


@given(GUESSES, st.integers(1, 30), st.sets(st.integers(0, 29)))
def test_an_interruption_changes_nothing(guesses: list[tuple[int, int]], count: int, stops: set[int]) -> None:
    """Another answer comes in between: what is guessed is gone, the logits of the last chosen token are still there."""
    writer = Writer(PlayedDrafter(guesses))

    def on_token(written: int) -> None:
        if written in stops:
            writer.ahead.settle()
            assert writer.model.memory == writer.cache.tokens

    assert writer.write(count, on_token) == plainly(count)


def test_nothing_is_guessed_beyond_the_room() -> None:
    drafter = PlayedDrafter([(MOST, MOST)] * 20)
    writer = Writer(drafter)
    writer.write(9)
    assert all(len(tokens) - 1 + 1 + most <= 9 for tokens, most in drafter.asked)
    assert len(writer.model.memory) == 1 + 9


def test_right_guesses_spare_calls() -> None:
    writer = Writer(PlayedDrafter([(MOST, MOST)] * 20))
    writer.write(30)
    assert writer.model.calls < 10
    assert writer.ahead.accepted == 30 - writer.model.calls


def test_where_guesses_find_no_room_the_token_is_computed_alone() -> None:
    writer = Writer(PlayedDrafter([(MOST, MOST)] * 30))
    writer.model.room = 1
    assert writer.write(12) == plainly(12)
    assert (writer.model.calls, writer.ahead.drafted) == (12, 0)
