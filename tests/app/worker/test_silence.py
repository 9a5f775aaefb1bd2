"""A worker that listens to nothing: cancel, unload and quit still come to an end (cases 134, 142, 143)."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from engine.client.session import WorkerState
from engine.protocol.frames import Loaded
from tests.app.worker.conftest import OTHER
from tests.app.worker.test_service import alive

DEAF = {"ignore_sigterm": True, "eof": "ignore"}


@pytest.fixture
def short_patience(monkeypatch) -> None:
    """The steps of an end and the time limit of a cancel, shortened."""
    monkeypatch.setattr("app.worker.process.STEP_MS", 150)
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)


def children() -> set[int]:
    """Process ids of this process's children, zombies included."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {int(pid) for pid in listed.split()}


def test_silence_after_a_cancel_is_ended_and_the_next_message_answered(make_bench, short_patience) -> None:
    bench = make_bench(runs=[{**DEAF, "generate": {"text": "a b c d", "after": 2, "silence": True}}, {}])
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) == 2)
    bench.service.cancel(answer.id)
    bench.until_ended(answer)
    assert (answer.text, answer.failure) == ("a b ", "cancelled")
    (death,) = bench.deaths
    assert death.code == "worker-silent"
    (notice,) = bench.notices
    assert notice.text == f"{death.sentence} It is started again and loads the model."
    bench.until_state(WorkerState.READY)
    assert (bench.starts(), len(bench.received("load"))) == (2, 2)
    assert "worker" not in bench.withdrawn[1:], "it tells why the model was loaded again, so it stays"
    again = bench.ask("back again")
    bench.until_ended(again)
    assert again.text == "back again"


def test_a_load_that_cannot_be_stopped_leaves_a_fresh_worker(make_bench, short_patience) -> None:
    bench = make_bench(runs=[{**DEAF, "load": {"after": 1, "hang": True}}, {}])
    load = bench.load()
    bench.until(lambda: bool(bench.progress))
    bench.service.cancel(load.id)
    bench.until_ended(load)
    bench.until_state(WorkerState.IDLE)
    assert load.failure == "cancelled"
    assert bench.notices[-1].text.endswith("It is started again.")
    assert len(bench.received("load")) == 1, "the user did not want it"


def test_switching_the_model_gets_past_a_worker_that_hangs(make_bench, short_patience) -> None:
    bench = make_bench(runs=[{**DEAF, "generate": {"after": 1, "hang": True}}, {}])
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) == 1)
    other = bench.load(OTHER)
    bench.until_ended(answer, other)
    assert isinstance(other.end, Loaded)
    assert bench.service.model.name == "other"
    assert bench.starts() == 2


def test_silence_alone_is_no_reason_to_kill(make_bench) -> None:
    bench = make_bench(generate={"after": 1, "silence": True})
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) == 1)
    assert not bench.service._link.session.watching, "no time limit runs"
    assert (answer.ends, bench.service.state) == ([], WorkerState.GENERATING)


@pytest.mark.parametrize("during", ["load", "generate"])
def test_quit_ends_a_worker_that_ignores_everything(make_bench, during: str) -> None:
    before = children()
    bench = make_bench(**DEAF, **{during: {"after": 1, "hang": True}})
    load, answer = bench.load(), bench.ask()
    bench.until(lambda: bool(bench.progress if during == "load" else answer.deltas))
    pid = bench.service.pid
    began = time.monotonic()
    bench.service.shutdown()
    assert time.monotonic() - began < 30, "3 s, and a busy machine; the worker would never end"
    assert not alive(pid)
    assert children() <= before
    assert answer.failure == "stopped"
    assert load.failure == "stopped" if during == "load" else isinstance(load.end, Loaded)
    assert bench.deaths == []


def test_unload_of_a_worker_that_ignores_everything(make_bench, short_patience) -> None:
    bench = make_bench(**DEAF, generate={"after": 1, "hang": True})
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) == 1)
    pid = bench.service.pid
    bench.service.unload()
    bench.until_ended(answer)
    bench.until_state(WorkerState.STOPPED)
    assert not alive(pid)
    assert answer.failure == "stopped"


def test_quit_during_unload_ends_in_time(make_bench, short_patience) -> None:
    bench = make_bench(**DEAF)
    bench.until_ended(bench.load())
    pid = bench.service.pid
    bench.service.unload()
    bench.service.shutdown()
    assert not alive(pid)


def test_a_stopped_worker_goes_on_after_it_was_continued(make_bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    bench = make_bench(generate={"text": "one two three four", "gate": str(gate), "gate_after": 1})
    bench.load()
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) == 1)
    os.kill(bench.service.pid, signal.SIGSTOP)
    gate.touch()
    bench.qtbot.wait(300)
    assert not answer.ends
    os.kill(bench.service.pid, signal.SIGCONT)
    bench.until_ended(answer)
    assert answer.text == "one two three four"
