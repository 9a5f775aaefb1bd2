"""What the sheet about a message says."""

from __future__ import annotations

from app.chat.rows import MessageRow
from engine.chat.records import Role, RunSettings, Status
from engine.protocol.types import GenerationStats, LogitBias, Sampling
from ui.chat.details import details


def row(**fields: object) -> MessageRow:
    given = {"id": "m", "role": Role.ASSISTANT, "text": "t", "status": Status.DONE, "author": "Qwen3 8B"} | fields
    return MessageRow(**given)  # type: ignore[arg-type]


def test_an_answer_has_its_time_its_figures_and_its_settings(qapp: object) -> None:
    stats = GenerationStats(
        prompt_tokens=1200, cached_tokens=1000, generated_tokens=312, thinking_tokens=12, ttft_ms=250, prefill_tps=800,
        decode_tps=41.24, drafted=100, accepted=62,
    )  # fmt: skip
    settings = RunSettings(
        sampling=Sampling(temperature=0.5, top_k=7), n_ctx=16384, max_tokens=2000, system_prompt="Be brief."
    )
    who, figures, how = details(row(created=1_764_500_000.0, stats=stats, settings=settings))
    assert who.startswith("Written by Qwen3 8B, ")
    assert "2025" in who
    assert figures.split("\n") == [
        "Prompt: 1,200 tokens, 1,000 of them from the cache",
        "Answer: 312 tokens, 12 of them thought",
        "First token after 0.25 s",
        "Prefill: 800.0 tok/s",
        "Decode: 41.2 tok/s",
        "Guessed tokens accepted: 62 of 100",
    ]
    assert how.split("\n") == [
        "Samplers: temperature 0.5, top-k 7",
        "Context: 16,384 tokens",
        "Longest answer: 2,000 tokens",
        "System prompt: Be brief.",
    ]


def test_biases_and_grammars_are_short(qapp: object) -> None:
    sampling = Sampling(temperature=0.5, logit_bias=(LogitBias(12, -5.0), LogitBias(7, 2.5)), grammar="root ::=\n 'a'")
    _, how = details(row(settings=RunSettings(sampling=sampling)))
    assert how == "Samplers: temperature 0.5, logit bias 12: -5, 7: 2.5, grammar root ::= 'a'"


def test_a_summary_of_what_was_before_can_be_read(qapp: object) -> None:
    *_, told = details(row(role=Role.USER, author="You", summary="They spoke of zebras."))
    assert told.endswith(":\nThey spoke of zebras.")


def test_what_is_not_known_is_left_out(qapp: object) -> None:
    assert details(row(role=Role.USER, author="You")) == ("You wrote this.",)
    assert details(row()) == ("Written by Qwen3 8B.",)
