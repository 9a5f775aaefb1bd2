"""The real worker guessing ahead: the words are those without guesses, whatever guesses and whatever else is asked.

Flash attention is off: it rounds another way for several tokens at once, which decides where two tokens of a random
model are as likely as each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.caching import Overflow
from engine.protocol.frames import Delta, Finished, Generate
from engine.protocol.types import FinishReason, FlashAttention, LogitBias, Sampling
from tests.engine.worker.driver import Worker, assistant, user
from tests.fakes.tiny_gguf import EXTRA_TEXTS, SCRIPT_END, extra_token, small_llama
from tests.fakes.tiny_windowed import windowed

ENDS = (SCRIPT_END, *map(extra_token, EXTRA_TEXTS))
BIASES = tuple(LogitBias(token, -1000.0) for token in ENDS)
ENDLESS = Sampling(temperature=0, logit_bias=BIASES)
DRAWN = Sampling(temperature=0.8, top_k=8, repeat_penalty=1.1, logit_bias=BIASES, seed=11)
NOT_GREEDY_GRAMMAR = Sampling(temperature=0.8, seed=4, grammar='root ::= ([a-f] "-")+ "!"')
QUESTION = user("the tide and the rope and the tide and the rope and")
MAKERS: dict[str, Callable[[], bytes]] = {"llama": small_llama, "windowed": windowed}
GUESSERS: dict[str, dict[str, Any]] = {
    "ngram": {"ngram": True},
    "itself": {"draft": "same", "draft_p_min": 0.0},
    "another": {"draft": "another", "draft_p_min": 0.0, "n_draft": 5},
    "both": {"ngram": True, "draft": "same", "draft_p_min": 0.0, "n_draft": 16},
}
N_CTX = 512
LOAD: dict[str, Any] = {"n_threads": 1, "n_ctx": N_CTX, "flash_attention": FlashAttention.OFF}


@pytest.fixture(scope="module", params=["llama", pytest.param("windowed", marks=pytest.mark.slow)])
def models(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The model, and one with other weights."""
    folder = tmp_path_factory.mktemp("models")
    maker: Any = MAKERS[request.param]
    for name, seed in (("same", 1), ("another", 2)):
        (folder / f"{name}.gguf").write_bytes(maker(seed))
    return {name: str(folder / f"{name}.gguf") for name in ("same", "another")}


@pytest.fixture(scope="module")
def plain(models: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with Worker(log=tmp_path_factory.mktemp("plain") / "log") as worker:
        worker.loaded(Path(models["same"]), **LOAD)
        yield worker


@pytest.fixture(scope="module", params=["ngram", "another", "both", pytest.param("itself", marks=pytest.mark.slow)])
def guessing(
    request: pytest.FixtureRequest, models: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Worker]:
    options = dict(GUESSERS[request.param])
    if "draft" in options:
        options["draft"] = models[options["draft"]]
    with Worker(log=tmp_path_factory.mktemp("guessing") / "log") as worker:
        info = worker.loaded(Path(models["same"]), **LOAD, **options).model
        assert not [words for words in info.warnings if "guess" in words]
        assert bool(sum(use.draft for use in info.memory)) == ("draft" in options)
        yield worker


ASKED: dict[str, dict[str, Any]] = {
    "greedy": {"sampling": ENDLESS, "max_tokens": 150},
    "drawn": {"sampling": DRAWN, "max_tokens": 120},
    "mirostat": {"sampling": Sampling(temperature=0.8, mirostat=2, seed=3, logit_bias=BIASES), "max_tokens": 60},
    "grammar": {"sampling": NOT_GREEDY_GRAMMAR, "max_tokens": 60},
    "to the end of the context": {"sampling": ENDLESS, "max_tokens": None},
    "one token": {"sampling": ENDLESS, "max_tokens": 1},
    "two tokens": {"sampling": ENDLESS, "max_tokens": 2},
}


@pytest.mark.parametrize("asked", ASKED)
def test_the_words_are_the_same(plain: Worker, guessing: Worker, asked: str) -> None:
    text, end = plain.finished(QUESTION, **ASKED[asked])
    guessed, guessed_end = guessing.finished(QUESTION, **ASKED[asked])
    assert guessed == text
    assert (guessed_end.reason, guessed_end.stats.generated_tokens) == (end.reason, end.stats.generated_tokens)
    assert 0 <= guessed_end.stats.accepted <= guessed_end.stats.drafted
    assert (end.stats.drafted, end.stats.accepted_rate) == (0, None)


def test_a_stop_string_ends_it_at_the_same_place(plain: Worker, guessing: Worker) -> None:
    text = plain.finished(QUESTION, sampling=ENDLESS, max_tokens=80)[0]
    stop = text[30:33]
    expected = plain.finished(QUESTION, sampling=ENDLESS, max_tokens=80, stop=(stop,))
    found = guessing.finished(QUESTION, sampling=ENDLESS, max_tokens=80, stop=(stop,))
    assert (found[0], found[1].reason) == (expected[0], expected[1].reason)
    assert found[1].reason is FinishReason.STOP


def test_the_next_turn_finds_its_cache_and_says_the_same(plain: Worker, guessing: Worker) -> None:
    """What was guessed and not chosen is in nobody's cache."""
    told = []
    for worker in (plain, guessing):
        talk = [QUESTION]
        for turn in range(3):
            text, end = worker.finished(*talk, sampling=ENDLESS, max_tokens=30, conversation="turns")
            talk += [assistant(text), user(f"and {turn}")]
            told.append((text, end.stats.prompt_tokens))
    assert told[:3] == told[3:]
    edited = [QUESTION, assistant("no"), user("and 1")]
    assert plain.finished(*edited, sampling=ENDLESS)[0] == guessing.finished(*edited, sampling=ENDLESS)[0]


def test_it_ends_when_it_is_cancelled(guessing: Worker) -> None:
    request = Generate(
        id=guessing.new_id(),
        messages=(QUESTION,),
        sampling=ENDLESS,
        overflow=Overflow.SHIFT,
        max_tokens=10**6,
    )
    guessing.send(request)
    frame = guessing.receive()
    while not isinstance(frame, Delta):
        frame = guessing.receive()
    guessing.cancel(request.id)
    end = guessing.until_terminal(request.id)[1]
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.CANCELLED


def test_a_full_context_goes_on(guessing: Worker, models: dict[str, str]) -> None:
    """With a shift the words need not be those of another run: where it happens depends on nothing that is guessed."""
    asked: dict[str, Any] = {"sampling": ENDLESS, "overflow": Overflow.SHIFT, "max_tokens": 2 * N_CTX}
    first = guessing.finished(QUESTION, **asked)
    assert (first[1].reason, first[1].stats.generated_tokens) == (FinishReason.LENGTH, 2 * N_CTX)
