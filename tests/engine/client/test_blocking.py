"""The driver for commands, with a real process behind the pipes."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.client.blocking import BlockingWorker
from engine.client.calls import generate, load_model
from engine.client.command import WorkerCommand, worker_command
from engine.client.memory_trouble import MemoryState
from engine.errors import VrambleError
from engine.protocol.frames import (
    TERMINAL_TYPES,
    Delta,
    Devices,
    Failed,
    Finished,
    FromWorker,
    Generate,
    ListDevices,
    Load,
    Loaded,
)
from engine.protocol.types import ChatMessage, FinishReason, LoadOptions, Sampling
from tests.fakes.fake_worker import worker_command as fake_command

MODEL = Path("/models/tiny.gguf")
DEAF = {"ignore_sigterm": True, "eof": "ignore"}


def command_for(folder: Path, **script: Any) -> WorkerCommand:
    return worker_command(environ={**os.environ, "VRAMBLE_WORKER_COMMAND": fake_command(script, folder)})


@pytest.fixture
def worker_of(tmp_path: Path) -> Callable[..., BlockingWorker]:
    return lambda **script: BlockingWorker(command_for(tmp_path, **script))


def ask(worker: BlockingWorker, text: str, on_delta: Callable[[Delta], None] = lambda _delta: None) -> Finished:
    return generate(worker, [ChatMessage(role="user", content=text)], Sampling(), None, on_delta)


def load(worker: BlockingWorker) -> Loaded:
    return load_model(worker, MODEL, LoadOptions(), lambda _progress: None)


def gone(pid: int) -> bool:
    """The process is gone and reaped."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def pid_of(worker: BlockingWorker) -> int:
    assert worker.pid is not None
    return worker.pid


def test_hello_load_answer_end(worker_of) -> None:
    pieces: list[Delta] = []
    with worker_of() as worker:
        hello = worker.start()
        pid = pid_of(worker)
        assert hello.pid == pid
        assert load(worker).model.name == "tiny"
        finished = ask(worker, "one two", pieces.append)
        (devices,) = worker.request(ListDevices(id=worker.next_id()))
    assert "".join(d.text for d in pieces) == "one two"
    assert finished.reason is FinishReason.STOP
    assert isinstance(devices, Devices)
    assert gone(pid)


def test_a_conversation_larger_than_the_pipe_arrives_whole(worker_of) -> None:
    text = "wörter " * 50_000
    pieces: list[str] = []
    with worker_of(generate={}) as worker:
        worker.start()
        load(worker)
        ask(worker, text, lambda delta: pieces.append(delta.text))
    assert "".join(pieces) == text


def test_a_failure_is_raised_and_the_worker_goes_on(worker_of) -> None:
    fail = {"code": "context-full", "message": "Too long.", "next_step": "Shorten it.", "detail": "9000 of 4096"}
    with worker_of(generate=[{"fail": fail, "after": 0}, {}]) as worker:
        worker.start()
        load(worker)
        with pytest.raises(VrambleError) as caught:
            ask(worker, "x")
        assert (caught.value.code, caught.value.detail) == ("context-full", "9000 of 4096")
        assert ask(worker, "y").reason is FinishReason.STOP


def test_cancel_between_events(worker_of) -> None:
    with worker_of(generate={"text": "word " * 20_000, "delay": 0.01}) as worker:
        worker.start()
        load(worker)
        request = Generate(id=worker.next_id(), messages=())
        events: list[FromWorker] = []
        for event in worker.request(request):
            events.append(event)
            if len(events) == 2:
                worker.cancel(request.id)
        assert isinstance(events[-1], Finished)
        assert events[-1].reason is FinishReason.CANCELLED


def test_an_abandoned_request_does_not_leak_into_the_next_one(worker_of) -> None:
    with worker_of(generate=[{"text": "a b c d e"}, {}]) as worker:
        worker.start()
        load(worker)
        first = worker.request(Generate(id=worker.next_id(), messages=()))
        assert isinstance(next(first), Delta)
        first.close()
        texts: list[str] = []
        ask(worker, "only this", lambda delta: texts.append(delta.text))
        assert "".join(texts) == "only this"


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ({"generate": {"after": 1, "signal": "SIGSEGV"}}, "worker-crashed"),
        ({"generate": {"after": 1, "exit": 5}}, "worker-ended"),
        ({"generate": {"cut": True}}, "worker-ended"),
    ],
)
def test_death_in_the_middle(worker_of, script, code) -> None:
    with worker_of(**script) as worker:
        worker.start()
        load(worker)
        with pytest.raises(VrambleError) as caught:
            ask(worker, "one two three")
        assert caught.value.code == code
        assert worker.pid is None
        with pytest.raises(VrambleError) as again:
            ask(worker, "more")
        assert again.value.code == code


@pytest.mark.parametrize(("pressure", "words"), [(40.0, "to save itself"), (0.0, "from outside")])
def test_who_killed_it(worker_of, monkeypatch, pressure: float, words: str) -> None:
    """The kernel is asked before and after."""
    states = [MemoryState(oom_kills=0, pressure=0.0), MemoryState(oom_kills=0, pressure=pressure)]
    monkeypatch.setattr("engine.client.piped.read_memory_state", lambda: states.pop(0))
    with worker_of(generate={"after": 1, "signal": "SIGKILL"}) as worker:
        worker.start()
        load(worker)
        with pytest.raises(VrambleError) as caught:
            ask(worker, "one two three")
    assert caught.value.code == "killed"
    assert words in caught.value.message


def test_the_log_tail_goes_into_the_detail(worker_of) -> None:
    lines = [f"line {number}" for number in range(1000)]
    with worker_of(generate={"stderr": lines, "after": 0, "signal": "SIGABRT"}) as worker:
        worker.start()
        load(worker)
        with pytest.raises(VrambleError) as caught:
            ask(worker, "x")
    assert caught.value.detail.splitlines()[-2:] == ["line 998", "line 999"]
    assert worker.log_tail.splitlines()[0] == "line 800"


def test_more_log_than_a_pipe_holds_does_not_block_the_worker(worker_of) -> None:
    with worker_of(stderr=["x" * 100] * 5000, load={"stderr": ["y" * 100] * 5000}) as worker:
        worker.start()
        load(worker)


def test_other_protocol_version(worker_of) -> None:
    with worker_of(protocol=99) as worker:
        with pytest.raises(VrambleError) as caught:
            worker.start()
        assert (caught.value.code, worker.pid) == ("worker-protocol", None)


def test_worker_that_never_says_hello(worker_of, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.HELLO_SECONDS", 0.3)
    with worker_of(**DEAF, hello=False) as worker:
        with pytest.raises(VrambleError) as caught:
            worker.start()
        assert (caught.value.code, worker.pid) == ("worker-silent", None)


def test_command_that_does_not_exist() -> None:
    with BlockingWorker(WorkerCommand(("/nonexistent/worker",), {})) as worker, pytest.raises(VrambleError) as caught:
        worker.start()
    assert caught.value.code == "worker-not-started"
    assert "/nonexistent/worker" in caught.value.detail


def test_worker_that_ends_at_once(tmp_path: Path) -> None:
    script = "echo 'OSError: libvulkan.so.1: cannot open shared object file' >&2; exit 1"
    with BlockingWorker(WorkerCommand(("/bin/sh", "-c", script), {})) as worker, pytest.raises(VrambleError) as caught:
        worker.start()
    assert caught.value.code == "library-missing"


def test_silence_after_a_cancel_is_killed(worker_of, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)
    with worker_of(**DEAF, generate={"after": 2, "silence": True}) as worker:
        worker.start()
        load(worker)
        request = Generate(id=worker.next_id(), messages=(ChatMessage(role="user", content="a b c"),))
        events: list[FromWorker] = []
        for event in worker.request(request):
            events.append(event)
            if len(events) == 2:
                worker.cancel(request.id)
        assert [type(e) for e in events] == [Delta, Delta, Failed]
        assert isinstance(events[-1], Failed)
        assert events[-1].code == "cancelled"


def test_close_gets_rid_of_a_worker_that_ignores_everything(worker_of, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.blocking.STEP_SECONDS", 0.15)
    with worker_of(**DEAF, generate={"after": 1, "hang": True}) as worker:
        worker.start()
        load(worker)
        pid = pid_of(worker)
        assert isinstance(
            next(worker.request(Generate(id=9, messages=(ChatMessage(role="user", content="a b"),)))), Delta
        )
    assert gone(pid)


def test_first_ctrl_c_cancels_and_the_text_is_kept(worker_of) -> None:
    pieces: list[str] = []

    def press(delta: Delta) -> None:
        pieces.append(delta.text)
        if len(pieces) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with worker_of(generate=[{"text": "word " * 300, "delay": 0.01}, {}]) as worker:
        worker.start()
        load(worker)
        assert ask(worker, "x", press).reason is FinishReason.CANCELLED
        assert 2 <= len(pieces) < 300
        assert ask(worker, "again").reason is FinishReason.STOP


def test_second_ctrl_c_kills(worker_of) -> None:
    pids: list[int] = []

    def press(_delta: Delta) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def use(worker: BlockingWorker) -> None:
        with worker:
            worker.start()
            pids.append(pid_of(worker))
            load(worker)
            ask(worker, "x", press)

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        use(worker_of(**DEAF, ignore_cancel=True, generate={"text": "word " * 300, "delay": 0.01}))
    assert gone(pids[0])
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_does_not_reach_the_worker_itself(worker_of) -> None:
    with worker_of() as worker:
        worker.start()
        assert os.getpgid(pid_of(worker)) != os.getpgid(0)


behaviour: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "garbage": st.lists(st.sampled_from(["", "null", "{", '{"type":"finished","id":1}', "\udcff"]), max_size=3),
        "double": st.booleans(),
        "cut": st.booleans(),
        "stderr": st.lists(st.just("log"), max_size=2),
        "after": st.integers(0, 6),
    },
)
event: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {}, {"signal": "SIGSEGV"}, {"exit": 3}, {"fail": {"code": "x", "message": "X."}}]
)
behaviours = st.tuples(behaviour, event).map(lambda both: {**both[0], **both[1]})


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=st.fixed_dictionaries({"load": behaviours, "generate": behaviours}), cancels=st.sets(st.integers(1, 12)))
def test_each_request_of_a_real_process_ends_exactly_once(tmp_path: Path, script, cancels) -> None:
    seen = 0
    with BlockingWorker(command_for(tmp_path, **script)) as worker:
        worker.start()
        for request in (Load(id=1, path="/m"), Generate(id=2, messages=(ChatMessage(role="user", content="a b c d"),))):
            ends: list[FromWorker] = []
            if worker.pid is None:
                break
            for event_ in worker.request(request):
                seen += 1
                assert not ends, "nothing comes after the end"
                assert getattr(event_, "id", request.id) == request.id
                if isinstance(event_, TERMINAL_TYPES):
                    ends.append(event_)
                if seen in cancels:
                    worker.cancel(request.id)
            assert len(ends) == 1
