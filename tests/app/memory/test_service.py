"""The sampler's rhythm, with an executor that the test cranks by hand and a timer that it fires."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from app.memory.history import MarkerKind
from app.memory.service import HIDDEN_INTERVAL_MS, INTERVAL_MS, MemoryService
from engine.memory.records import MemorySnapshot, ModelShare, RamMemory
from engine.protocol.types import DeviceInfo, DeviceKind, MemoryUse, ModelInfo


class Crank:
    """Runs what is queued when told."""

    def __init__(self) -> None:
        self.queue: deque[Callable[[], None]] = deque()
        self.closed = False

    def submit(self, work: Callable[[], None]) -> None:
        self.queue.append(work)

    def close(self) -> None:
        while self.queue:
            self.queue.popleft()()
        self.closed = True

    def turn(self) -> None:
        self.queue.popleft()()


class CountingSampler:
    """Snapshots that carry a number instead of figures."""

    def __init__(self) -> None:
        self.workers: list[int | None] = []
        self.error: Exception | None = None

    def sample(self, worker: int | None = None) -> MemorySnapshot:
        self.workers.append(worker)
        if self.error is not None:
            raise self.error
        return MemorySnapshot(gpus=(), ram=RamMemory(total=len(self.workers)), taken=float(len(self.workers)))


class Stage:
    """A service, its sampler, its executor and what it said."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.sampler, self.crank = CountingSampler(), Crank()
        self.service = MemoryService(self.sampler, self.crank)
        (self.timer,) = self.service.findChildren(QTimer)
        self.said: list[MemorySnapshot] = []
        self.failures = 0
        self.service.sampled.connect(self.said.append)
        self.service.failed.connect(self._count)

    def _count(self) -> None:
        self.failures += 1

    def tick(self) -> None:
        self.timer.timeout.emit()

    def finish(self) -> None:
        """Let the queued sample run and its result arrive."""
        before = len(self.said) + self.failures
        self.crank.turn()
        self.qtbot.waitUntil(lambda: len(self.said) + self.failures > before)


@pytest.fixture
def stage(qtbot: QtBot) -> Stage:
    return Stage(qtbot)


def test_nothing_is_read_until_somebody_watches(stage: Stage) -> None:
    assert not stage.crank.queue
    assert stage.service.snapshot is None
    assert not stage.service.watched


def test_watching_begins_with_a_sample_at_once(stage: Stage) -> None:
    stage.service.set_watched(True)
    assert stage.service.watched
    stage.finish()
    assert stage.service.snapshot is stage.said[0]
    assert stage.timer.interval() == INTERVAL_MS == 1000


def test_a_slow_sample_delays_the_next_and_none_pile_up(stage: Stage) -> None:
    stage.service.set_watched(True)
    for _ in range(5):
        stage.tick()
    assert len(stage.crank.queue) == 1
    stage.finish()
    assert not stage.crank.queue
    stage.tick()
    assert len(stage.crank.queue) == 1


def test_nobody_watches_no_sample(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.finish()
    stage.service.set_watched(False)
    assert not stage.timer.isActive()
    stage.service.set_worker(77)
    assert not stage.crank.queue
    stage.service.set_watched(True)
    stage.finish()
    assert stage.sampler.workers == [None, 77]


def test_watching_twice_is_watching_once(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.service.set_watched(True)
    assert len(stage.crank.queue) == 1


def test_a_minimised_window_samples_less_often_and_at_once_when_it_is_back(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.finish()
    stage.service.set_hidden(True)
    assert stage.timer.interval() == HIDDEN_INTERVAL_MS
    assert stage.timer.isActive()
    assert not stage.crank.queue
    stage.service.set_hidden(False)
    assert stage.timer.interval() == INTERVAL_MS
    assert len(stage.crank.queue) == 1


def test_a_new_worker_is_looked_at_at_once(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.finish()
    stage.service.set_worker(4242)
    stage.service.set_worker(4242)
    assert len(stage.crank.queue) == 1
    stage.finish()
    assert stage.sampler.workers == [None, 4242]


def test_a_worker_that_comes_during_a_sample_is_in_the_next_one(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.service.set_worker(4242)
    stage.finish()
    assert len(stage.crank.queue) == 1
    stage.finish()
    assert stage.sampler.workers == [None, 4242]
    assert not stage.crank.queue


def test_a_failure_leaves_no_old_figures_and_is_told_once(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.finish()
    stage.sampler.error = RuntimeError("a bug")
    with stage.qtbot.captureExceptions() as errors:
        for _ in range(3):
            stage.tick()
            stage.finish()
    assert [str(error[1]) for error in errors] == ["a bug"]
    assert stage.failures == 3
    assert stage.service.snapshot is None
    stage.sampler.error = None
    stage.tick()
    stage.finish()
    assert stage.service.snapshot is stage.said[-1]


def test_after_shutdown_nothing_is_said(stage: Stage) -> None:
    stage.service.set_watched(True)
    stage.service.shutdown()
    assert stage.crank.closed
    assert not stage.timer.isActive()
    assert stage.sampler.workers == [None]
    stage.qtbot.wait(10)
    assert stage.said == []
    stage.service.set_watched(True)
    stage.service.set_worker(7)
    assert not stage.crank.queue


# --- who else wants samples, and what they cost ---------------------------------------------------


def test_a_guard_samples_without_anybody_watching(stage: Stage) -> None:
    stage.service.guard(5000)
    assert stage.service.watched
    assert stage.timer.interval() == 5000
    stage.finish()
    stage.tick()
    stage.finish()
    assert len(stage.said) == 2
    stage.service.guard(None)
    assert not stage.timer.isActive()


def test_the_most_frequent_wish_counts(stage: Stage) -> None:
    stage.service.guard(5000)
    stage.service.set_watched(True)
    assert stage.timer.interval() == INTERVAL_MS
    stage.service.set_hidden(True)
    assert stage.timer.interval() == 5000
    stage.service.guard(1000)
    assert stage.timer.interval() == 1000
    stage.service.guard(None)
    assert stage.timer.interval() == HIDDEN_INTERVAL_MS
    stage.service.set_watched(False)
    assert not stage.timer.isActive()


def test_dear_samples_come_less_often_and_the_first_one_does_not_count(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    spent = [0.0]

    def cost(seconds: float) -> None:
        steps = iter((spent[0], spent[0] + seconds))
        monkeypatch.setattr("app.memory.service.time.thread_time", lambda: next(steps))
        stage.tick()
        stage.finish()

    stage.service.set_watched(True)
    stage.finish()
    cost(0.001)
    assert stage.timer.interval() == INTERVAL_MS
    for _ in range(40):
        cost(0.02)
    assert 3000 <= stage.timer.interval() <= 4000, "20 ms are half a percent of 4 s"
    for _ in range(40):
        cost(0.2)
    assert stage.timer.interval() == HIDDEN_INTERVAL_MS, "never rarer than that"
    for _ in range(60):
        cost(0.0005)
    assert stage.timer.interval() == INTERVAL_MS


def test_a_guard_after_the_end_samples_nothing(stage: Stage) -> None:
    stage.service.shutdown()
    stage.service.guard(1000)
    assert not stage.timer.isActive()


def test_what_the_engine_says_is_in_the_samples_and_in_the_history(stage: Stage) -> None:
    card = DeviceInfo(
        id="CUDA0", backend="CUDA", name="card", pci="0000:01:00.0", kind=DeviceKind.GPU, memory_total=8, memory_free=7,
        usable=True,
    )  # fmt: skip
    model = ModelInfo(
        path="/m.gguf", name="tiny", architecture="llama", quant="Q4_0", n_params=1, size_bytes=1, n_ctx=1,
        n_ctx_train=1, n_layers=1, gpu_layers=1, device=card, memory=(MemoryUse(device="CUDA0", weights=5),),
    )  # fmt: skip
    stage.service.set_devices((card,))
    stage.service.set_model(model)
    stage.service.set_model(model)
    stage.service.set_answering(True)
    stage.service.set_answering(False)
    stage.service.set_watched(True)
    stage.finish()
    assert [gpu.name for gpu in stage.said[0].reported] == ["card"]
    assert stage.said[0].model == (ModelShare(pci="0000:01:00.0", weights=5),)
    stage.service.set_model(None)
    stage.tick()
    stage.finish()
    assert stage.said[1].model == ()
    history = stage.service.history
    assert len(history.points) == 2
    assert [(marker.kind, marker.text) for marker in history.markers] == [
        (MarkerKind.LOAD, "tiny"),
        (MarkerKind.ANSWER, "tiny"),
        (MarkerKind.UNLOAD, "tiny"),
    ]
