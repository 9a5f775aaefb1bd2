"""Several answers at once with the real worker: fair, equal to those that are written alone, ended one by one."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from engine.client.session import WorkerState
from engine.protocol.caching import Overflow
from engine.protocol.frames import Finished
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, LogitBias, Sampling
from tests.app.worker.conftest import Answer, Bench
from tests.app.worker.test_real import GREEDY, LONG_ANSWER, bench, pid_of, tiny

__all__ = ["bench", "tiny"]

OPTIONS = LoadOptions(n_ctx=LONG_ANSWER, n_threads=1, n_parallel=2)
LETTER = 100
"""The byte ``a`` in the vocabulary of the tiny model."""

ENDLESS = Sampling(temperature=0, logit_bias=(LogitBias(token=LETTER, bias=1000),))
"""Nothing else is ever chosen, so that no answer ends by itself."""

SHARE = 2000
"""Tokens that are counted; deltas come 30 times a second, so what they tell is some tokens old."""


def endless(bench: Bench, text: str) -> Answer:
    """An answer that does not end by itself."""
    answer = Answer()
    answer.id = bench.service.generate(
        [ChatMessage(role="user", content=text)],
        ENDLESS,
        None,
        (),
        answer.deltas.append,
        answer.progress.append,
        answer.ends.append,
        conversation=text,
        overflow=Overflow.SHIFT,
    )
    return answer


def tokens(answer: Answer) -> int:
    return answer.deltas[-1].tokens if answer.deltas else 0


def two(bench: Bench, path: Path) -> list[Answer]:
    """Two answers that are being written."""
    bench.until_ended(bench.load(path, OPTIONS))
    answers = [endless(bench, "the sea"), endless(bench, "the hills and all the rest " * 4)]
    bench.until(lambda: all(tokens(answer) for answer in answers))
    return answers


@pytest.mark.slow
def test_each_gets_the_same_share(bench: Bench, tiny: Path) -> None:
    answers = two(bench, tiny)
    begun = [tokens(answer) for answer in answers]
    bench.until(lambda: max(tokens(a) - b for a, b in zip(answers, begun, strict=True)) >= SHARE)
    written = [tokens(answer) - before for answer, before in zip(answers, begun, strict=True)]
    assert min(written) >= SHARE // 2
    for answer in answers:
        bench.service.cancel(answer.id)
    bench.until_ended(*answers)


def test_greedy_text_is_that_of_an_answer_alone(bench: Bench, tiny: Path) -> None:
    bench.until_ended(bench.load(tiny, OPTIONS))
    together = [bench.ask(text, max_tokens=40, sampling=GREEDY) for text in ("hello", "what is the tide")]
    bench.until_ended(*together)
    alone = []
    for text in ("hello", "what is the tide"):
        alone.append(bench.ask(text, max_tokens=40, sampling=GREEDY))
        bench.until_ended(alone[-1])
    assert [answer.text for answer in together] == [answer.text for answer in alone]


def test_a_cancel_ends_one_and_the_other_goes_on(bench: Bench, tiny: Path) -> None:
    first, second = two(bench, tiny)
    bench.service.cancel(first.id)
    bench.until_ended(first)
    assert isinstance(first.end, Finished)
    assert first.end.reason is FinishReason.CANCELLED
    seen = tokens(second)
    bench.until(lambda: tokens(second) > seen)
    assert (second.ends, bench.service.state) == ([], WorkerState.GENERATING)
    bench.service.cancel(second.id)
    bench.until_ended(second)


def test_a_kill_ends_both_with_their_words_and_the_next_loads(bench: Bench, tiny: Path) -> None:
    answers = two(bench, tiny)
    os.kill(pid_of(bench), signal.SIGKILL)
    bench.until_ended(*answers)
    assert [answer.failure for answer in answers] == ["killed", "killed"]
    assert all(answer.text for answer in answers)
    again = bench.ask("hello", max_tokens=5, sampling=GREEDY)
    bench.until_ended(again)
    assert isinstance(again.end, Finished)
