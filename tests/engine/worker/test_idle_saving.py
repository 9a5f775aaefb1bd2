"""When caches go to the disk, and when a file is worth being read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Empty
from types import SimpleNamespace
from typing import Any

import pytest

from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Forget, FromWorker, Generate, ListDevices, Request, Terminal, Unloaded
from engine.worker.disk_states import DiskStates
from engine.worker.process import IDLE_SECONDS, serve

ANSWER = Generate(id=1, messages=())


class Inbox:
    """Gives out a script; ``Empty`` is a wait without a request."""

    def __init__(self, *script: Request | Forget | type[Empty]) -> None:
        self.script = list(script)
        self.waits: list[float | None] = []
        self.waiting, self.limit = False, 1

    def next(self, seconds: float | None = None) -> tuple[Request | Forget, float] | None:
        self.waits.append(seconds)
        step = self.script.pop(0) if self.script else None
        if step is Empty:
            raise Empty
        return None if step is None else (step, 0.0)  # type: ignore[return-value]

    def finish(self, request_id: int | None = None) -> None:
        pass


class Desk:
    """Records what it is asked for; each `save` gives the next of ``saves``."""

    def __init__(self, *saves: bool) -> None:
        self.calls: list[object] = []
        self._saves = iter(saves)

    parallel = 2

    def answer(self, request: Request, taken: float) -> Terminal:
        self.calls.append("other")
        return Unloaded(id=request.id)

    def generate(self, request: Generate, taken: float, arrivals: object) -> None:
        self.calls.append("answer")

    def forget(self, conversations: Sequence[str]) -> None:
        self.calls.append(tuple(conversations))

    def save(self, stopped: Callable[[], bool]) -> bool:
        self.calls.append("save")
        return next(self._saves)

    def close(self) -> None:
        pass


def served(inbox: Inbox, desk: Desk) -> list[FromWorker]:
    sent: list[FromWorker] = []
    serve(inbox, desk, sent.append)  # type: ignore[arg-type]
    return sent


def test_after_an_answer_and_a_quiet_time_caches_are_saved_once() -> None:
    inbox, desk = Inbox(ANSWER, Empty), Desk(True)
    assert served(inbox, desk) == []
    assert desk.calls == ["answer", "save"]
    assert inbox.waits == [None, IDLE_SECONDS, None]


def test_a_save_that_was_interrupted_is_tried_again() -> None:
    inbox, desk = Inbox(ANSWER, Empty, ANSWER, Empty, Empty), Desk(False, False, True)
    served(inbox, desk)
    assert desk.calls == ["answer", "save", "answer", "save", "save"]


def test_other_requests_are_no_news_and_forgetting_has_no_answer() -> None:
    inbox, desk = Inbox(ListDevices(id=1), Forget(conversations=("a", "b"))), Desk()
    assert len(served(inbox, desk)) == 1
    assert desk.calls == ["other", ("a", "b")]
    assert inbox.limit == 2
    assert set(inbox.waits) == {None}


PROMPT = list(range(1000))


def cache(held: int = 0) -> Any:
    return SimpleNamespace(usable=lambda _prompt: held, usable_of=lambda tokens, _points, _prompt: len(tokens))


@pytest.mark.parametrize(
    ("speed", "held", "read"),
    [(100.0, 0, True), (0.0, 0, True), (1e9, 0, False), (100.0, 950, False)],
)
def test_a_file_is_read_where_that_is_faster(tmp_path: Path, speed: float, held: int, read: bool) -> None:
    states = DiskStates(CachePolicy(disk=1 << 24, folder=str(tmp_path)), "mark")
    states.computed(900, 900 / speed if speed else 0.0)
    assert states.write("c", PROMPT[:990], memoryview(bytes(1 << 20)))
    found = states.read("c", cache(held), [*PROMPT, 1])
    assert (found is not None) == read


def test_the_speed_of_an_earlier_process_counts_until_there_is_one(tmp_path: Path) -> None:
    policy = CachePolicy(disk=1 << 24, folder=str(tmp_path))
    before = DiskStates(policy, "mark")
    before.computed(1000, 1e-6)
    assert before.write("c", PROMPT[:990], memoryview(bytes(1 << 20)))
    after = DiskStates(policy, "mark")
    assert after.read("c", cache(), [*PROMPT, 1]) is None
    after.computed(1000, 10.0)
    assert after.read("c", cache(), [*PROMPT, 1]) is not None


def test_the_measured_rate_of_the_disk_counts(tmp_path: Path) -> None:
    clock = itertools.count(step=10.0)
    states = DiskStates(CachePolicy(disk=1 << 24, folder=str(tmp_path)), "mark", lambda: float(next(clock)))
    states.computed(1000, 1.0)
    assert states.write("c", PROMPT[:990], memoryview(bytes(1 << 20)))
    contents = states.read("c", cache(), [*PROMPT, 1])
    assert contents is not None
    states.was_read("c", contents, True)
    assert states.read("c", cache(), [*PROMPT, 1]) is None, "ten seconds for one MiB is slower than computing"


def test_a_state_that_llama_cpp_refuses_is_forgotten(tmp_path: Path) -> None:
    states = DiskStates(CachePolicy(disk=1 << 24, folder=str(tmp_path)), "mark")
    assert states.write("c", PROMPT[:990], memoryview(b"state"))
    contents = states.read("c", cache(), [*PROMPT, 1])
    assert contents is not None
    states.was_read("c", contents, False)
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    states = DiskStates(CachePolicy(disk=1 << 24), "mark")
    assert not states.on
    assert not states.write("c", PROMPT, memoryview(b"state"))
    states.forget(["c"])
