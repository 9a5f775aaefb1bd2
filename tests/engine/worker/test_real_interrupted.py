"""The real worker disturbed from outside: threads that log all the time, a process that is stopped and continued."""

from __future__ import annotations

import os
import re
import signal
import sys
import time

import psutil

from engine.protocol.frames import Delta, Finished, Generate
from engine.protocol.types import FinishReason
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import GREEDY, Worker, starter_model, user

LOGGING = """
import itertools, os, sys, threading, time
from engine.worker import process

def log():
    for number in itertools.count():
        print(f"thread {number}.", file=sys.stderr, flush=True)
        os.write(1, f"stdout {number}.\\n".encode())
        time.sleep(0.002)

original = process.private_streams

def private_streams():
    streams = original()
    threading.Thread(target=log, daemon=True).start()
    return streams

process.private_streams = private_streams
sys.exit(process.run())
"""

STORY = user("Write a very long story about a lighthouse.")


def begun(worker: Worker, max_tokens: int) -> tuple[Generate, str]:
    """An answer that is being written, and its first text."""
    request = Generate(id=worker.new_id(), messages=(STORY,), sampling=GREEDY, max_tokens=max_tokens)
    worker.send(request)
    while not isinstance(frame := worker.receive(), Delta):
        assert frame is not None, worker.log_text()
    return request, frame.text


def test_lines_of_another_thread_are_all_in_the_log(start_worker: StartWorker) -> None:
    """Load, answer and an error among them: nothing is redirected for a while and lost."""
    worker = start_worker(command=[sys.executable, "-P", "-c", LOGGING])
    worker.loaded(starter_model(), n_threads=1, n_ctx=512)
    assert worker.finished(STORY, max_tokens=30)[1].stats.generated_tokens == 30
    worker.load(starter_model().with_name("gone.gguf"))
    worker.close()
    assert worker.garbage == []
    log = worker.log_text()
    for word in ("thread", "stdout"):
        numbers = [int(number) for number in re.findall(rf"{word} (\d+)\.", log)]
        assert len(numbers) > 100
        assert numbers == list(range(len(numbers)))


def test_stopped_and_continued_in_mid_answer(start_worker: StartWorker) -> None:
    """As a computer that sleeps: the answer goes on where it was, and its figures stay figures."""
    worker = start_worker()
    worker.loaded(starter_model(), n_threads=1, n_ctx=512)
    whole, end = worker.finished(STORY, max_tokens=40)
    assert end.reason is FinishReason.LENGTH
    request, text = begun(worker, 40)
    os.kill(worker.process.pid, signal.SIGSTOP)
    process = psutil.Process(worker.process.pid)
    while process.status() != psutil.STATUS_STOPPED:
        time.sleep(0.01)
    os.kill(worker.process.pid, signal.SIGCONT)
    frames, finished = worker.until_terminal(request.id)
    text += "".join(frame.text for frame in frames if isinstance(frame, Delta))
    assert isinstance(finished, Finished)
    assert (text, finished.reason, finished.stats.generated_tokens) == (whole, FinishReason.LENGTH, 40)
    assert 0 < finished.stats.decode_tps < 100_000
    assert all(frame.tps >= 0 for frame in frames if isinstance(frame, Delta))


def test_a_cancel_that_arrives_while_it_is_stopped_is_heard_afterwards(start_worker: StartWorker) -> None:
    worker = start_worker()
    worker.loaded(starter_model(), n_threads=1, n_ctx=512)
    request, _ = begun(worker, 400)
    os.kill(worker.process.pid, signal.SIGSTOP)
    worker.cancel(request.id)
    os.kill(worker.process.pid, signal.SIGCONT)
    finished = worker.until_terminal(request.id)[1]
    assert finished.reason is FinishReason.CANCELLED
    assert worker.finished(STORY, max_tokens=3)[1].stats.generated_tokens == 3


def test_a_template_process_that_was_killed_is_replaced(start_worker: StartWorker) -> None:
    worker = start_worker()
    worker.loaded(starter_model(), n_threads=1, n_ctx=512)
    for number in (signal.SIGKILL, signal.SIGSEGV):
        (child,) = psutil.Process(worker.process.pid).children()
        child.send_signal(number)
        _, end = worker.finished(STORY, max_tokens=2)
        assert end.stats.generated_tokens == 2
