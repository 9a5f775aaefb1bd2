"""The worker service with the real worker process and a model of a few hundred kB."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from pytestqt.qtbot import QtBot

from app.notices import Notices
from app.paths import Paths
from app.worker.service import Answered, WorkerService
from engine.client.session import WorkerState
from engine.protocol.frames import Finished, Loaded
from engine.protocol.types import FinishReason, LoadOptions, LogitBias, Sampling
from tests.app.worker.conftest import Answer, Bench
from tests.app.worker.test_service import alive
from tests.fakes.tiny_gguf import tiny_llama

OPTIONS = LoadOptions(n_ctx=256, n_threads=1)
GREEDY = Sampling(temperature=0)
ENDLESS = Sampling(temperature=0, logit_bias=(LogitBias(token=2, bias=-1000),))
"""The end of a turn is never chosen: the answer still runs, whatever the machine does meanwhile."""
LONG_ANSWER = 32_768  # tokens


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(tiny_llama())
    return path


@pytest.fixture
def bench(qtbot: QtBot, tmp_path: Path) -> Iterator[Bench]:
    notices = Notices()
    service = WorkerService(Paths(tmp_path, tmp_path, tmp_path, tmp_path), notices=notices)
    yield Bench(service, notices, qtbot, tmp_path / "no-journal")
    service.shutdown()


def pid_of(bench: Bench) -> int:
    assert bench.service.pid is not None
    return bench.service.pid


def test_answer_kill_answer_unload(bench: Bench, tiny: Path) -> None:
    load = bench.load(tiny, OPTIONS)
    bench.until(lambda: bool(load.ends), 60_000)
    assert isinstance(load.end, Loaded)
    first = bench.ask("hello", max_tokens=12, sampling=GREEDY)
    bench.until(lambda: bool(first.ends), 60_000)
    assert isinstance(first.end, Finished)
    assert first.end.reason is FinishReason.LENGTH
    assert first.end.stats.generated_tokens == 12

    killed = pid_of(bench)
    os.kill(killed, signal.SIGKILL)
    bench.until_state(WorkerState.CRASHED)
    again = bench.ask("hello", max_tokens=12, sampling=GREEDY)
    bench.until(lambda: bool(again.ends), 60_000)
    assert again.text == first.text
    assert [death.code for death in bench.deaths] == ["killed"]

    pid = pid_of(bench)
    bench.service.unload()
    bench.until_state(WorkerState.STOPPED)
    assert not alive(pid)
    assert not alive(killed)


def test_a_quiet_look_keeps_the_cache_of_the_conversation(bench: Bench, tiny: Path) -> None:
    load = bench.load(tiny, OPTIONS)
    told: list[Answered] = []
    bench.service.answered.connect(told.append)
    first = bench.ask("hello " * 20, max_tokens=40, sampling=GREEDY)
    bench.until(lambda: bool(load.ends and first.ends), 60_000)
    (answered,) = told
    assert answered.text == first.text
    half = answered.text[: len(answered.text) // 2]
    look = Answer()
    request = msgspec.structs.replace(answered.request, prefill=half, max_tokens=4)
    bench.service.look(request, look.ends.append)
    bench.until(lambda: bool(look.ends), 60_000)
    assert isinstance(look.end, Finished)
    assert look.end.stats.cached_tokens > 20, "it went on where the answer was"
    assert (len(told), bench.service.state) == (1, WorkerState.READY)
    again = bench.ask("hello " * 20, max_tokens=40, sampling=GREEDY)
    bench.until(lambda: bool(again.ends), 60_000)
    assert isinstance(again.end, Finished)
    assert again.end.stats.cached_tokens > 20
    assert again.text == first.text


@pytest.mark.slow
def test_a_worker_that_does_not_answer_is_replaced_with_its_model(bench: Bench, tiny: Path) -> None:
    load = bench.load(tiny, msgspec.structs.replace(OPTIONS, n_ctx=LONG_ANSWER))
    answer = bench.ask("hello", sampling=ENDLESS)
    bench.until(lambda: bool(load.ends and answer.deltas), 60_000)
    stopped = pid_of(bench)
    os.kill(stopped, signal.SIGSTOP)
    assert not answer.ends, "the worker stood still too late"
    bench.service.cancel(answer.id)
    bench.until(lambda: bool(answer.ends), 60_000)
    bench.until_state(WorkerState.READY)
    assert not alive(stopped)
    assert answer.text
    again = bench.ask("hello", max_tokens=5, sampling=GREEDY)
    bench.until(lambda: bool(again.ends), 60_000)
    assert again.text.startswith(answer.text[:1])


def test_cancel_and_a_file_that_is_no_model(bench: Bench, tiny: Path, tmp_path: Path) -> None:
    load = bench.load(tiny, OPTIONS)
    answer = bench.ask("hello", sampling=GREEDY)
    bench.until(lambda: bool(load.ends and answer.deltas), 60_000)
    bench.service.cancel(answer.id)
    bench.until(lambda: bool(answer.ends), 60_000)
    assert isinstance(answer.end, Finished), answer.end

    text = tmp_path / "letter.gguf"
    text.write_text("Dear all,")
    wrong = bench.load(text, OPTIONS)
    bench.until(lambda: bool(wrong.ends), 60_000)
    assert wrong.failure
    assert (bench.service.state, bench.deaths) == (WorkerState.IDLE, [])
