"""Asking the engine once what it found."""

from __future__ import annotations

import msgspec

from engine.client.blocking import BlockingWorker
from engine.client.command import WorkerCommand
from engine.errors import VrambleError
from engine.protocol.frames import Hello


class EngineAnswer(msgspec.Struct, frozen=True):
    """What came of the question: a hello, or the sentence that says why not. An engine that could not be loaded
    says hello with an empty ``engine``; ``problem`` then holds what it logged."""

    hello: Hello | None
    problem: str = ""
    advice: str = ""


def ask_engine(command: WorkerCommand) -> EngineAnswer:
    """Start a worker, take its hello, end it: at most half a minute. Wakes sleeping GPUs. Never raises for a worker
    that fails: that is a finding."""
    worker = BlockingWorker(command)
    try:
        hello = worker.start()
    except VrambleError as error:
        return EngineAnswer(None, error.message, error.next_step)
    finally:
        worker.close()
    if hello.engine:
        return EngineAnswer(hello)
    return EngineAnswer(hello, worker.log_tail.rpartition("\n")[2] or "The engine gave no reason.")
