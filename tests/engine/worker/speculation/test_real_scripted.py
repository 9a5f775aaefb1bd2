"""Guesses beside thoughts, schemas, other answers, and models that do not go together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.frames import Failed, Finished, Generate
from engine.protocol.types import FinishReason, FlashAttention, LogitBias, Sampling, Thinking
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import GREEDY, Worker, user
from tests.fakes.tiny_gguf import (
    EXTRA_TEXTS,
    SCRIPT_END,
    byte_token,
    byte_vocabulary,
    extra_token,
    scripted_llama,
    small_llama,
    tiny_llama,
)
from tests.fakes.tiny_recurrent import mamba

LINE_END = byte_token(0x0A)
PLAIN = "{% for m in messages %}{{ m.content }}\n{% endfor %}"
THINK, END_THINK = extra_token("<think>"), extra_token("</think>")
ENDLESS = Sampling(
    temperature=0, logit_bias=tuple(LogitBias(token, -1000.0) for token in (SCRIPT_END, *map(extra_token, EXTRA_TEXTS)))
)


LOAD: dict[str, Any] = {"n_threads": 1, "n_ctx": 512, "flash_attention": FlashAttention.OFF}
"""See `test_real_speculation` for why flash attention is off."""


def scripted(folder: Path, *said: int | bytes, template: str = PLAIN) -> Path:
    """A model that says these tokens."""
    tokens = [token for part in said for token in ([part] if isinstance(part, int) else map(byte_token, part))]
    path = folder / "scripted.gguf"
    path.write_bytes(scripted_llama([LINE_END, *tokens], template=template))
    return path


def test_thought_and_answer_are_guessed_and_come_apart(worker: Worker, tmp_path: Path) -> None:
    path = scripted(tmp_path, THINK, b"plan", END_THINK, b"Fish", SCRIPT_END)
    worker.loaded(path, **LOAD, draft=str(path), draft_p_min=0.0)
    thought, text, end = worker.thought_and_text(user("?"))
    assert isinstance(end, Finished)
    assert (thought, text, end.stats.generated_tokens, end.stats.thinking_tokens) == ("plan", "Fish", 10, 5)
    assert end.stats.accepted > 4


@pytest.mark.parametrize(("budget", "thought"), [(0, ""), (2, "ab"), (3, "abc"), (100, "abcdefg")])
def test_a_budget_ends_a_thought_that_is_guessed_on(worker: Worker, tmp_path: Path, budget: int, thought: str) -> None:
    """The guess reaches beyond the budget; what was guessed there is not in the context of the answer."""
    path = scripted(tmp_path, b"abcdefg", SCRIPT_END, template=PLAIN + "<think>{{ '\n' }}")
    worker.loaded(path, **LOAD, draft=str(path), draft_p_min=0.0)
    found, text, end = worker.thought_and_text(user("?"), thinking=Thinking(budget=budget))
    assert (found, text) == (thought, "" if budget == 100 else "abcdefg")
    assert isinstance(end, Finished)
    assert end.stats.drafted > 0


def test_a_schema_is_kept_to(worker: Worker, models: Path) -> None:
    """What is guessed knows nothing of the schema."""
    small = models / "small.gguf"
    schema = '{"type":"object","properties":{"a":{"type":"integer","maximum":99}},"required":["a"]}'
    sampling = Sampling(temperature=0.9, seed=5, json_schema=schema)
    texts = []
    for options in ({}, {"draft": str(small), "draft_p_min": 0.0, "ngram": True}):
        worker.loaded(small, **LOAD, **options)
        text, end = worker.finished(user("{"), sampling=sampling, max_tokens=200)
        assert isinstance(json.loads(text)["a"], int)
        texts.append((text, end.stats.generated_tokens))
    assert texts[0] == texts[1]


def test_an_answer_that_others_join_says_the_same(worker: Worker, models: Path) -> None:
    small = models / "small.gguf"
    questions = ["the tide and the rope and the tide and the rope", "one two one two one two one two"]
    worker.loaded(small, **{**LOAD, "n_ctx": 1024})
    alone = [worker.finished(user(text), sampling=ENDLESS, max_tokens=90)[0] for text in questions]
    worker.loaded(small, **{**LOAD, "n_ctx": 1024}, n_parallel=2, ngram=True, draft=str(small), draft_p_min=0.0)
    requests = [
        Generate(id=worker.new_id(), messages=(user(text),), sampling=ENDLESS, max_tokens=90) for text in questions
    ]
    worker.send(*requests)
    said: dict[int, str] = {request.id: "" for request in requests}
    ends: dict[int, Any] = {}
    while len(ends) < 2:
        frame: Any = worker.receive()
        if isinstance(frame, Finished | Failed):
            ends[frame.id] = frame
        else:
            said[frame.id] += getattr(frame, "text", "")
    assert [said[request.id] for request in requests] == alone
    assert all(isinstance(end, Finished) for end in ends.values()), ends


def test_a_model_that_cannot_go_back_writes_without_guesses(worker: Worker, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "mamba.gguf"
    path.write_bytes(mamba())
    expected = None
    for options in ({}, {"ngram": True}, {"draft": str(models / "tiny.gguf")}):
        info = worker.loaded(path, **LOAD, **options).model
        assert [words for words in info.warnings if "guess" in words] == (
            ["This model keeps a state that cannot go back, so nothing is guessed ahead."] if options else []
        )
        text, end = worker.finished(user("abcabcabc"), sampling=ENDLESS, max_tokens=20)
        expected = expected or text
        assert (text, end.stats.drafted) == (expected, 0)


def test_the_smallest_context_and_batches(worker: Worker, tiny: Path) -> None:
    """A context of one token becomes the smallest that there is; batches of one token leave no room for guesses."""
    too_small = "A batch of one token has no room for guesses, so nothing is guessed ahead."
    for batch, words in ((512, []), (2, []), (1, [too_small])):
        options = {**LOAD, "n_ctx": 1, "n_batch": batch, "n_ubatch": batch}
        worker.loaded(tiny, **options)
        expected, plain = worker.finished(user("abcabc"), sampling=ENDLESS, max_tokens=None)
        info = worker.loaded(tiny, **options, draft=str(tiny), draft_p_min=0.0, ngram=True).model
        assert [sentence for sentence in info.warnings if "guess" in sentence] == words
        text, end = worker.finished(user("abcabc"), sampling=ENDLESS, max_tokens=None)
        assert (text, end.reason) == (expected, FinishReason.CONTEXT)
        assert plain.stats.generated_tokens == end.stats.generated_tokens


def refused(worker: Worker, model: Path, draft: Path | str, **options: Any) -> Failed:
    answer = worker.load(model, **LOAD, draft=str(draft), **options)
    assert isinstance(answer, Failed), answer
    return answer


def test_other_tokens_are_refused(worker: Worker, tiny: Path, tmp_path: Path) -> None:
    texts = byte_vocabulary()[0]
    other = tmp_path / "other.gguf"
    other.write_bytes(tiny_llama(tokens=[*texts[:-1], "zz"]))
    failed = refused(worker, tiny, other)
    assert failed.code == "draft-mismatch"
    assert failed.message == "other.gguf cannot guess for tiny.gguf: their vocabularies are not the same."
    other.write_bytes(tiny_llama(tokens=[*texts, *(f"more{number}" for number in range(200))]))
    assert refused(worker, tiny, other).code == "draft-mismatch"


def test_a_few_tokens_more_are_no_hindrance(worker: Worker, tiny: Path, tmp_path: Path) -> None:
    """A draft model with more tokens never guesses those, and one with fewer guesses what it knows."""
    more = tmp_path / "more.gguf"
    texts, kinds = byte_vocabulary()
    more.write_bytes(small_llama(3, tokens=[*texts, *(f"more{number}" for number in range(100))]))
    del kinds
    for target, draft in ((tiny, more), (more, tiny)):
        worker.loaded(target, **LOAD)
        expected = worker.finished(user("abcabc"), sampling=ENDLESS, max_tokens=60)[0]
        worker.loaded(target, **LOAD, draft=str(draft), draft_p_min=0.0)
        text, end = worker.finished(user("abcabc"), sampling=ENDLESS, max_tokens=60)
        assert (text, end.stats.drafted > 0) == (expected, True)


def test_draft_models_that_are_none(worker: Worker, tiny: Path, tmp_path: Path) -> None:
    missing = refused(worker, tiny, tmp_path / "gone.gguf")
    assert (missing.code, "gone.gguf does not exist" in missing.message) == ("draft-failed", True)
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"no model")
    assert refused(worker, tiny, broken).code == "draft-failed"
    recurrent = tmp_path / "mamba.gguf"
    recurrent.write_bytes(mamba())
    unsuited = refused(worker, tiny, recurrent)
    assert (unsuited.code, unsuited.message) == (
        "draft-unsuited",
        "mamba.gguf cannot be a draft model: it keeps a state that cannot go back.",
    )
    worker.loaded(tiny, **LOAD)


def test_its_memory_is_told_apart(start_worker: StartWorker, models: Path) -> None:
    worker = start_worker()
    small, tiny = models / "small.gguf", models / "tiny.gguf"
    alone = worker.loaded(tiny, **LOAD, ngram=True).model.memory
    both = worker.loaded(tiny, **LOAD, ngram=True, draft=str(small)).model.memory
    assert [use.device for use in both] == ["CPU"]
    assert (alone[0].draft, both[0].draft > small.stat().st_size // 2) == (0, True)
    assert (both[0].weights, both[0].kv, both[0].compute) == (alone[0].weights, alone[0].kv, alone[0].compute)
    assert both[0].total == alone[0].total + both[0].draft


def test_a_greedy_answer_after_one_that_was_drawn(worker: Worker, models: Path) -> None:
    """The draft model's cache holds another answer; the guesses are as good as before."""
    small = models / "small.gguf"
    worker.loaded(small, **LOAD, draft=str(small), draft_p_min=0.0)
    first = worker.finished(user("abc"), sampling=ENDLESS, max_tokens=40)
    worker.finished(user("abc"), sampling=Sampling(temperature=2.0, seed=1), max_tokens=40)
    again = worker.finished(user("abc"), sampling=ENDLESS, max_tokens=40)
    assert again[0] == first[0]
    assert first[1].stats.accepted > 30
    assert again[1].stats.accepted > 30
    worker.finished(user("abc"), sampling=GREEDY, max_tokens=4)
