"""Asking the engine: whatever it does, an answer comes back in bounded time and no process stays."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.client import session
from engine.client.command import worker_command
from engine.doctor.answer import EngineAnswer, ask_engine
from tests.fakes import fake_worker

Ask = Callable[..., EngineAnswer]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """``ask(**script)``: the answer of a worker that plays the script."""

    def run(**script: Any) -> EngineAnswer:
        monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", fake_worker.worker_command(script, tmp_path))
        return ask_engine(worker_command())

    return run


def is_gone(answer: EngineAnswer) -> bool:
    assert answer.hello is not None
    try:
        os.kill(answer.hello.pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_good_worker(ask: Ask) -> None:
    answer = ask()
    assert answer.hello is not None
    assert [device.pci for device in answer.hello.devices if device.pci] == ["0000:03:00.0"]
    assert answer.problem == ""
    assert is_gone(answer)


def test_a_worker_that_ignores_the_end_is_ended(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.client.blocking.STEP_SECONDS", 0.1)
    assert is_gone(ask(eof="ignore", ignore_sigterm=True))


def test_silence_is_a_finding(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "HELLO_SECONDS", 0.2)
    answer = ask(hello=False)
    assert answer.hello is None
    assert answer.problem
    assert answer.advice


def test_another_protocol_is_a_finding(ask: Ask) -> None:
    answer = ask(protocol=99)
    assert answer.hello is None
    assert answer.problem


def test_an_engine_without_a_reason(ask: Ask) -> None:
    assert ask(engine="", backends=[], devices=[]).problem == "The engine gave no reason."


def test_no_program_to_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", "/nonexistent/worker")
    answer = ask_engine(worker_command())
    assert (answer.hello, answer.problem) == (None, "The engine could not be started.")
