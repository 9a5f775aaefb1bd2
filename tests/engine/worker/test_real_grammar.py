"""Answers that keep to a grammar or a JSON schema, by the real worker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.protocol.frames import Failed, Finished
from engine.protocol.types import FinishReason, LogitBias, Sampling
from tests.engine.sampling.validator import valid
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import Worker, user
from tests.fakes.tiny_gguf import I32, U32, byte_token, byte_vocabulary, tiny_llama

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 6},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
        "more": {"anyOf": [{"type": "null"}, {"type": "number", "minimum": -1, "maximum": 1}]},
    },
    "required": ["name", "age", "more"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def random_model(worker: Worker, tmp_path_factory: pytest.TempPathFactory) -> Worker:
    path = tmp_path_factory.mktemp("random") / "random.gguf"
    path.write_bytes(tiny_llama(7))
    worker.loaded(path, n_threads=1)
    return worker


@pytest.mark.parametrize("seed", range(15))
def test_a_model_of_random_weights_writes_json_of_the_schema(random_model: Worker, seed: int) -> None:
    sampling = Sampling(seed=seed, temperature=1.0, json_schema=json.dumps(SCHEMA))
    text, end = random_model.finished(user("?"), sampling=sampling, max_tokens=400)
    assert end.reason is FinishReason.STOP
    assert valid(json.loads(text), SCHEMA), text


SAMPLINGS = (
    {"temperature": 0.0},
    {"temperature": 0.0, "repeat_penalty": 1.3},
    {"mirostat": 1},
    {"mirostat": 2},
    {"top_k": 0},
    {"top_n_sigma": 1.0},
    {"xtc_probability": 1.0, "xtc_threshold": 0.01},
    {"dry_multiplier": 0.8},
    {"frequency_penalty": 1.0, "presence_penalty": 1.0},
)


@pytest.mark.parametrize("fields", SAMPLINGS, ids=str)
def test_a_schema_with_every_sampler(random_model: Worker, fields: dict[str, Any]) -> None:
    sampling = Sampling(seed=3, json_schema=json.dumps(SCHEMA), **fields)
    text, end = random_model.finished(user("?"), sampling=sampling, max_tokens=400)
    assert end.reason is FinishReason.STOP
    assert valid(json.loads(text), SCHEMA), text


def test_a_real_model_writes_json_of_the_schema(chat: Worker) -> None:
    question = user("Describe a person named Ann, 30 years old, as JSON with name, age, tags and more.")
    sampling = Sampling(seed=1, json_schema=json.dumps(SCHEMA))
    text, end = chat.finished(question, sampling=sampling, max_tokens=200)
    assert end.reason is FinishReason.STOP
    assert valid(json.loads(text), SCHEMA), text


def test_a_grammar_of_the_user(chat: Worker) -> None:
    sampling = Sampling(seed=1, grammar='root ::= ("yes" | "no") ", " [a-z]{3} "."')
    text, end = chat.finished(user("Is water wet?"), sampling=sampling)
    assert text in {f"{word}, {text[-4:-1]}." for word in ("yes", "no")}
    assert end.reason is FinishReason.STOP


def test_an_answer_within_a_grammar_goes_on(chat: Worker) -> None:
    sampling = Sampling(temperature=0, grammar='root ::= "The answer is " [0-9]{2} "!"')
    whole = chat.finished(user("Say a number."), sampling=sampling)[0]
    rest = chat.finished(user("Say a number."), sampling=sampling, prefill=whole[:10])[0]
    assert (whole[:10] + rest).startswith("The answer is ")
    assert len(whole[:10] + rest) == len(whole)
    end = chat.generate(user("Say a number."), sampling=sampling, prefill="No")[1]
    assert isinstance(end, Failed)
    assert end.message == "The beginning of the answer does not fit the grammar."


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("root ::= missing", "The grammar is not valid: undefined rule identifier 'missing'."),
        ('word ::= "a"', "The grammar is not valid: it has no rule named root."),
        ('root ::= root "a" | "b"', "The grammar is not valid: a rule begins with itself."),
        ('root ::= "a" )', "The grammar is not valid: expecting newline or end at ')'."),
        ('root ::= "open', "The grammar is not valid: unexpected end of input."),
        ("root ::= [a-z]{5000}", "The grammar is not valid: number of repetitions exceeds"),
        ("root ::= " + "(" * 300 + '"a"' + ")" * 300, "more than 200 brackets"),
    ],
)
def test_a_grammar_that_is_none_is_one_sentence(chat: Worker, grammar: str, message: str) -> None:
    end = chat.generate(user("?"), sampling=Sampling(grammar=grammar))[1]
    assert isinstance(end, Failed)
    assert end.code == "bad-grammar"
    assert message in end.message
    assert len(end.message) < 250


def test_a_schema_that_is_none(chat: Worker) -> None:
    end = chat.generate(user("?"), sampling=Sampling(json_schema='{"type": "x"}'))[1]
    assert isinstance(end, Failed)
    assert (end.code, end.message) == ("bad-json-schema", "The JSON schema cannot be used: the type 'x' is not known.")


def test_sampling_that_cannot_be_meant(chat: Worker) -> None:
    end = chat.generate(user("?"), sampling=Sampling(top_p=2))[1]
    assert isinstance(end, Failed)
    assert (end.code, end.message) == ("bad-sampling", "Top-p has to be from 0 to 1, not 2.")


def test_the_worker_answers_after_a_bad_grammar(chat: Worker) -> None:
    chat.generate(user("?"), sampling=Sampling(grammar="root ::="))
    assert chat.finished(user("Say hello."), max_tokens=4)[0]


def test_biases_forbid_and_force(random_model: Worker) -> None:
    force = Sampling(temperature=0, logit_bias=(LogitBias(byte_token(0x21), 1000),))
    assert random_model.finished(user("?"), sampling=force, max_tokens=5)[0] == "!!!!!"
    forbid = Sampling(
        seed=1, top_k=0, temperature=2.0, logit_bias=tuple(LogitBias(byte_token(code), -1000) for code in range(128))
    )
    text = random_model.finished(user("?"), sampling=forbid, max_tokens=60)[0]
    assert not any(char.isascii() and char not in "abc<think>/" for char in text)
    unknown = Sampling(temperature=0, logit_bias=(LogitBias(10**6, 5.0),))
    assert isinstance(random_model.finished(user("?"), sampling=unknown, max_tokens=2)[1], Finished)


def test_tokens_that_the_file_suppresses_never_come(worker: Worker, tmp_path: Path) -> None:
    path = tmp_path / "suppressed.gguf"
    kept = byte_token(0x41)
    suppressed = [token for token in range(len(byte_vocabulary()[0])) if token != kept]
    path.write_bytes(tiny_llama(**{"tokenizer.ggml.suppress_tokens": (9, (I32, suppressed))}))
    worker.loaded(path, n_threads=1)
    text, end = worker.finished(user("?"), sampling=Sampling(seed=1), max_tokens=6)
    assert (text, end.reason) == ("AAAAAA", FinishReason.LENGTH)


def test_a_model_without_an_end_token(start_worker: StartWorker, tmp_path: Path) -> None:
    """Grammars then end by themselves; free text ends at the limit or with the context."""
    texts, kinds = byte_vocabulary()
    kinds[2] = kinds[-1] = 1
    path = tmp_path / "endless.gguf"
    metadata = {
        "tokenizer.ggml.eos_token_id": None,
        "tokenizer.ggml.token_type": (9, (I32, kinds)),
        "tokenizer.ggml.tokens": (9, (8, [*texts[:2], "x2", *texts[3:-1], "x3"])),
        "tokenizer.ggml.eot_token_id": None,
        "tokenizer.ggml.bos_token_id": (U32, 1),
    }
    path.write_bytes(tiny_llama(**metadata))
    worker = start_worker()
    worker.loaded(path, n_threads=1, n_ctx=256)
    assert worker.finished(user("?"), max_tokens=5)[1].reason is FinishReason.LENGTH
    assert worker.finished(user("?"), max_tokens=None)[1].reason is FinishReason.CONTEXT
    text, end = worker.finished(user("?"), sampling=Sampling(seed=1, grammar='root ::= "ok" [0-9]'), max_tokens=20)
    assert text[:2] == "ok"
    assert (len(text), end.reason) == (3, FinishReason.STOP)
