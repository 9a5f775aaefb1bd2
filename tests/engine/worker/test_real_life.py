"""Birth, noise and death of the real worker process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from engine.protocol.frames import Delta, Failed, Finished, Generate
from tests.engine.worker.conftest import StartWorker
from tests.engine.worker.driver import DEADLINE, GREEDY, ROOT, Worker, starter_model, user

NOISY = """
import ctypes, os, sys
from engine.worker import process, requests

original = requests.Requests.answer
libc = ctypes.CDLL(None)

def noisy(self, request, taken):
    for number in range(250):
        print(f"python {number}", flush=True)
        os.write(1, f"descriptor {number}\\nnull\\nhalf".encode())
        libc.puts(f"native {number}".encode())
    libc.fflush(None)
    return original(self, request, taken)

requests.Requests.answer = noisy
sys.exit(process.run())
"""


def wait_for_end(pid: int) -> bool:
    """Whether ``pid`` ends before the deadline (a zombie has ended)."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_noise_on_stdout_is_log(start_worker: StartWorker, tiny: Path) -> None:
    worker = start_worker(command=[sys.executable, "-P", "-c", NOISY])
    worker.loaded(tiny, n_threads=1)
    _, end = worker.finished(user("hi"), max_tokens=40)
    assert end.stats.generated_tokens > 0
    assert worker.garbage == []
    log = worker.log_text()
    for number in range(250):
        assert f"python {number}\n" in log
        assert f"descriptor {number}\n" in log
        assert f"native {number}\n" in log


def test_garbage_on_stdin_is_survived(start_worker: StartWorker, tiny: Path) -> None:
    worker = start_worker()
    worker.write(b"\x00\xff\xfe\n[]\nnull\n" + b"x" * 200_000 + b"\n")
    worker.write(b'{"type":"generate","id":41,"messages":"none"}\n')
    _, end = worker.until_terminal(41)
    assert isinstance(end, Failed)
    assert end.code == "bad-request"
    worker.loaded(tiny, n_threads=1)


def test_end_of_stdin_while_idle(start_worker: StartWorker) -> None:
    assert start_worker().close() == 0


def test_end_of_stdin_in_an_answer(start_worker: StartWorker) -> None:
    worker = start_worker()
    worker.loaded(starter_model(), n_threads=1)
    worker.send(Generate(id=9, messages=(user("Write a long story."),), sampling=GREEDY, max_tokens=4000))
    frame = worker.receive()
    while not isinstance(frame, Delta):
        frame = worker.receive()
    assert worker.close() == 0


def test_end_of_stdin_during_a_native_call_that_never_returns(start_worker: StartWorker) -> None:
    code = (
        "import ctypes; from engine.worker import process, requests\n"
        "requests.Requests.generate = lambda *_: ctypes.CDLL(None).sleep(600)\n"
        "process.run()"
    )
    worker = start_worker(command=[sys.executable, "-P", "-c", code])
    worker.send(Generate(id=1, messages=(user("hi"),)))
    assert worker.close() == 0


def test_an_exception_in_a_request_is_answered_and_the_worker_goes_on(start_worker: StartWorker) -> None:
    code = "from engine.worker import process, requests\nrequests.Requests._together = lambda *_: 1 // 0\nprocess.run()"
    worker = start_worker(command=[sys.executable, "-P", "-c", code])
    for _ in range(2):
        end = worker.generate(user("hi"))[1]
        assert isinstance(end, Failed)
        assert end.code == "internal"
        assert "ZeroDivisionError" in end.detail
    assert "ZeroDivisionError" in worker.log_text()
    worker.unload()


def test_the_template_process_ends_with_the_worker(start_worker: StartWorker, tiny: Path) -> None:
    worker = start_worker()
    worker.loaded(tiny, n_threads=1)
    children = psutil.Process(worker.process.pid).children()
    assert len(children) == 1
    worker.process.kill()
    assert wait_for_end(children[0].pid)


def test_a_killed_parent_leaves_no_orphan(tmp_path: Path, tiny: Path) -> None:
    """The parent holds the worker's stdin; it is killed while the worker computes."""
    code = f"""
import sys, time
from pathlib import Path
from engine.protocol.frames import Generate
from tests.engine.worker.driver import *
worker = Worker(log=Path({str(tmp_path / "orphan.log")!r}))
worker.loaded(Path({str(starter_model())!r}), n_threads=1)
worker.send(Generate(id=9, messages=(user("Write a long story."),), sampling=GREEDY, max_tokens=4000))
print(worker.process.pid, flush=True)
time.sleep(600)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.send_signal(signal.SIGKILL)
    assert wait_for_end(pid)


def test_ctrl_c_in_the_terminal_is_the_parents_business(start_worker: StartWorker, tiny: Path) -> None:
    worker = start_worker()
    worker.loaded(tiny, n_threads=1)
    worker.process.send_signal(signal.SIGINT)
    assert isinstance(worker.generate(user("hi"), max_tokens=3)[1], Finished)


def test_native_aborts_leave_their_words_in_the_log(start_worker: StartWorker) -> None:
    code = (
        "from engine.worker import process, requests\n"
        "def abort(self, request, taken, arrivals):\n"
        "    api = self._loader._llama.ggml._library\n"
        "    api.ggml_abort(b'lost.cpp', 7, b'the device was lost')\n"
        "requests.Requests.generate = abort\n"
        "process.run()"
    )
    worker = start_worker(command=[sys.executable, "-P", "-c", code])
    worker.send(Generate(id=1, messages=(user("hi"),)))
    assert worker.receive() is None
    assert worker.process.wait(DEADLINE) == -signal.SIGABRT
    assert "E lost.cpp:7: the device was lost" in worker.log_text()
    assert "Fatal Python error: Aborted" in worker.log_text()


def test_an_engine_that_cannot_be_loaded_says_so(start_worker: StartWorker, tmp_path: Path) -> None:
    broken = tmp_path / "lib"
    broken.mkdir()
    (broken / "libllama.so").write_text("no library")
    worker = start_worker(env={"LLAMA_CPP_LIB_PATH": str(broken)})
    assert (worker.hello.engine, worker.hello.backends) == ("", ())
    error = worker.load(starter_model())
    assert isinstance(error, Failed)
    assert error.code == "engine-missing"
    assert "libllama.so" in error.detail
    assert worker.close() == 0


@pytest.mark.parametrize("value", ["", "1"])
def test_debug_lines_only_on_demand(start_worker: StartWorker, tiny: Path, value: str) -> None:
    worker: Worker = start_worker(env={"VRAMBLE_WORKER_DEBUG": value})
    worker.loaded(tiny, n_threads=1)
    assert ("\nD " in worker.log_text()) == bool(value)
