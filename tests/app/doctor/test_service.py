"""The diagnosis for the window: what it waits for, its steps, and its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.doctor.service import DoctorService
from app.doctor.watched import STEPS, Step
from engine.client.session import WorkerDeath, WorkerState
from engine.doctor.records import Diagnosis, Status
from engine.protocol.frames import Hello
from engine.protocol.types import BackendInfo
from tests.fakes.fake_worker import CPU, GPU
from tests.fakes.sysroot import build_sysroot
from tests.ui.shell.standins import FakeWorker

HELLO = Hello(
    protocol=1,
    pid=1,
    engine="llama-cpp-python 1",
    backends=(BackendInfo(name="CPU", path="/c.so", loaded=True),),
    devices=(CPU, GPU),
)


class Cranked:
    """Work waits until it is asked for."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def submit(self, work: Callable[[], None]) -> None:
        self.waiting.append(work)

    def close(self) -> None:
        self.crank()

    def crank(self) -> None:
        while self.waiting:
            self.waiting.pop(0)()


class Clinic:
    """A doctor on a recorded machine, its engine, and every step it told."""

    def __init__(self, machine: Path) -> None:
        self.worker, self.executor = FakeWorker(), Cranked()
        environ = {"VRAMBLE_SYSROOT": str(machine), "HOME": "/home/somebody", "USER": "somebody"}
        self.doctor = DoctorService(self.worker, self.executor, lambda: environ)  # type: ignore[arg-type]
        self.steps: list[Step | None] = []
        self.doctor.changed.connect(lambda: self.steps.append(self.doctor.step))

    def found(self, id_: str) -> str:
        diagnosis = self.doctor.diagnosis
        assert diagnosis is not None
        return next(check.found for check in diagnosis.checks if check.id == id_)


@pytest.fixture
def clinic(qtbot: QtBot, tmp_path: Path) -> Clinic:
    return Clinic(build_sysroot("rx7900xtx", tmp_path / "machine"))


def settle(qtbot: QtBot, clinic: Clinic) -> None:
    clinic.executor.crank()
    qtbot.waitUntil(lambda: not clinic.doctor.running)


def test_a_running_engine_is_asked_and_every_step_is_told(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.worker.set_hello(HELLO)
    clinic.worker.set_state(WorkerState.IDLE)
    clinic.doctor.start()
    assert clinic.doctor.running
    settle(qtbot, clinic)
    assert clinic.worker.started == 0
    assert clinic.steps == [*STEPS, None]
    assert clinic.found("engine").startswith("llama-cpp-python 1")


def test_an_engine_that_is_not_there_is_started_first(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.doctor.start()
    assert clinic.worker.started == 1
    assert not clinic.executor.waiting, "nothing is examined before the engine has answered"
    clinic.worker.set_hello(HELLO)
    settle(qtbot, clinic)
    assert clinic.doctor.diagnosis is not None


def test_an_engine_that_dies_is_a_finding(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.doctor.start()
    death = WorkerDeath(
        code="illegal-instruction",
        sentence="The processor is too old.",
        next_step="Build it anew.",
        signal=4,
        exit_code=None,
        log_tail="",
    )
    clinic.worker.died.emit(death)
    settle(qtbot, clinic)
    assert clinic.found("engine") == "The processor is too old."
    assert clinic.doctor.diagnosis is not None
    assert clinic.doctor.diagnosis.checks[0].status is Status.FAIL


def test_an_engine_without_libraries_tells_its_last_line(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.worker.log_tail = "first\nlibllama.so: cannot open shared object file"
    clinic.doctor.start()
    clinic.worker.set_hello(Hello(protocol=1, pid=1, engine=""))
    settle(qtbot, clinic)
    assert "libllama.so" in clinic.found("engine")


def test_cancel_keeps_the_last_diagnosis(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.worker.set_hello(HELLO)
    clinic.worker.set_state(WorkerState.READY)
    clinic.doctor.start()
    settle(qtbot, clinic)
    first = clinic.doctor.diagnosis
    clinic.doctor.start()
    clinic.doctor.cancel()
    assert not clinic.doctor.running
    clinic.doctor.start()
    clinic.doctor.cancel()
    settle(qtbot, clinic)
    qtbot.wait(1)
    assert clinic.doctor.diagnosis is first


def test_a_cancel_ends_the_examination_at_its_next_question(qtbot: QtBot) -> None:
    asked: list[Step] = []
    worker, executor = FakeWorker(), Cranked()

    def examine(environ, answer, watch):
        for step in STEPS[1:]:
            watch(step)
            asked.append(step)
            doctor.cancel()
        raise AssertionError("not stopped")

    doctor = DoctorService(worker, executor, dict, examine=examine)  # type: ignore[arg-type]
    doctor.start()
    worker.set_hello(HELLO)
    executor.crank()
    assert asked == [Step.SYSTEM]
    assert doctor.diagnosis is None


def test_a_second_start_while_one_runs_does_nothing(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.worker.set_hello(HELLO)
    clinic.worker.set_state(WorkerState.IDLE)
    clinic.doctor.start()
    clinic.doctor.start()
    assert len(clinic.executor.waiting) == 1
    settle(qtbot, clinic)


def test_a_hello_at_another_time_starts_nothing(clinic: Clinic) -> None:
    clinic.worker.set_hello(HELLO)
    assert not clinic.executor.waiting
    clinic.doctor.shutdown()


def test_nothing_private_is_in_it(clinic: Clinic, qtbot: QtBot) -> None:
    clinic.worker.set_hello(HELLO)
    clinic.worker.set_state(WorkerState.IDLE)
    clinic.doctor.start()
    settle(qtbot, clinic)
    diagnosis = clinic.doctor.diagnosis
    assert isinstance(diagnosis, Diagnosis)
    assert not any("somebody" in check.found + check.advice for check in diagnosis.checks)
