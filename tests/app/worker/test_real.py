"""The worker service with the real worker process and a model of a few hundred kB."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.notices import Notices
from app.paths import Paths
from app.worker.service import WorkerService
from engine.client.session import WorkerState
from engine.protocol.frames import Finished, Loaded
from engine.protocol.types import FinishReason, LoadOptions, Sampling
from tests.app.worker.conftest import Bench
from tests.app.worker.test_service import alive
from tests.fakes.tiny_gguf import tiny_llama

OPTIONS = LoadOptions(n_ctx=256, n_threads=1)
GREEDY = Sampling(temperature=0)


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
