"""The process that looks at model files: what it says, and that it never outlives its parent."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.library.child.launch import command, environment
from engine.library.child.main import serve
from engine.library.child.messages import (
    BATCH,
    BrokenFrameError,
    Event,
    Folders,
    Found,
    Frames,
    Look,
    Looking,
    Records,
    Request,
    Setup,
    decode_event,
    decode_request,
    encode,
)
from engine.library.child.telling import Listener, Teller
from engine.library.gguf import read_file
from engine.library.hashing import Hashed
from engine.library.index import Index
from engine.library.records import InstalledModel, ScanResult
from engine.library.roots import LibraryRoot, RootInfo, RootKind
from engine.library.scan import Checked
from engine.library.survey import Survey, Wishes
from engine.library.whereabouts import Whereabouts
from tests.engine.library.making import llama
from tests.fakes.model_homes import machine, put

PATIENCE_S = 60
ODD = os.fsdecode(b"/models/\xff\xfe")


def model(number: int, **changes: object) -> InstalledModel:
    path = Path(f"/models/{number}.gguf")
    values: dict[str, object] = {"path": path, "name": str(number), "label": str(number), "parts": (path,)}
    return InstalledModel(**{**values, "size_bytes": number, "folder": path.parent, **changes})  # type: ignore[arg-type]


def told(teller_result: list[Event], kind: type) -> list[Event]:
    return [event for event in teller_result if isinstance(event, kind)]


# ---- what goes over the pipe


@given(st.lists(st.binary(max_size=40), max_size=6), st.lists(st.integers(1, 9), min_size=1))
def test_frames_are_found_however_the_stream_is_cut(bodies: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(len(body).to_bytes(4, "big") + body for body in bodies)
    frames, found, at = Frames(), [], 0
    while at < len(stream):
        size = cuts[at % len(cuts)]
        frames.feed(stream[at : at + size])
        at += size
        while (frame := frames.take()) is not None:
            found.append(frame)
    assert found == bodies


@given(st.binary(max_size=200))
def test_nonsense_is_refused_and_nothing_else(data: bytes) -> None:
    frames = Frames()
    frames.feed(data)
    try:
        frame = frames.take()
        if frame is not None:
            decode_event(frame)
    except BrokenFrameError:
        pass


def test_names_that_are_no_text_come_through() -> None:
    root = LibraryRoot(kind=RootKind.CARD, path=ODD, uuid="1-2", relative=ODD[1:])
    info = RootInfo(root=root, path=Path(ODD), name="x")
    found = Found(
        last=True, models=(1,), companions=(), folder_missing=False, problems=("p",), roots=(info,), hidden=(info,)
    )
    records = Records(numbers=(1,), models=(model(1, path=Path(ODD), parts=(Path(ODD),)),))
    look = Look(wishes=Wishes(roots=(root,)), checked=(Checked(Hashed(Path(ODD), "ab"), 1.0),), parts=True)
    assert decode_event(encode(found)[4:]) == found
    assert decode_event(encode(records)[4:]) == records
    assert decode_request(encode(look)[4:]) == look
    assert found.roots[0].id == decode_event(encode(found)[4:]).roots[0].id  # type: ignore[union-attr]


# ---- only what is new is told


def test_many_models_come_in_small_frames_and_once() -> None:
    events: list[Event] = []
    teller, listener = Teller(events.append), Listener()
    result = ScanResult(
        models=tuple(model(number) for number in range(3 * BATCH + 1)),
        companions=(model(9000),),
        folders=tuple(Path(f"/f/{number}") for number in range(2000)),
    )
    teller.tell(result, last=True)
    assert max(len(one.models) for one in events if isinstance(one, Records)) <= BATCH
    assert [listener.take(event) for event in events][-1] == result
    events.clear()
    teller.tell(result, last=True)
    (only,) = events
    again = listener.take(only)
    assert again == result
    changed = msgspec.structs.replace(result, models=(model(7, name="other"), *result.models[1:]), folders=())
    events.clear()
    teller.tell(changed, last=True)
    assert [type(event) for event in events] == [Folders, Records, Found]
    assert [listener.take(event) for event in events][-1] == changed


def test_what_was_never_told_is_nonsense() -> None:
    found = Found(last=True, models=(3,), companions=(), folder_missing=False, problems=(), roots=(), hidden=())
    with pytest.raises(BrokenFrameError):
        Listener().take(found)


def test_a_parent_that_goes_in_the_middle_loses_nothing_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = machine(tmp_path)
    for number in range(5):
        put(tmp_path / f"own/{number}.gguf", llama(name=str(number)))
    requests: list[Request] = [Setup(own=tmp_path / "own", index=tmp_path / "index"), Look(wishes=Wishes(others=False))]
    looks = 0

    def closed() -> bool:
        nonlocal looks
        looks += 1
        return looks > 3

    def send(event: Event) -> None:
        if not isinstance(event, Looking):
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        serve(lambda: requests.pop(0), send, closed)
    read: list[Path] = []

    def counted(path: Path) -> object:
        read.append(path)
        return read_file(path)

    monkeypatch.setattr("engine.library.scan.read_file", counted)
    found = Survey(Whereabouts(tmp_path / "own", around), Index(tmp_path / "index")).scan(Wishes(others=False))
    assert len(found.models) == 5
    assert 0 < len(read) < 5


# ---- the process


class Child:
    def __init__(self, folder: Path) -> None:
        env = environment(machine(folder))
        self.process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self._frames = Frames()

    def ask(self, *requests: Request) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"".join(encode(request) for request in requests))
        self.process.stdin.flush()

    def events(self) -> Iterator[Event]:
        assert self.process.stdout
        while True:
            while (frame := self._frames.take()) is not None:
                yield decode_event(frame)
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                return
            self._frames.feed(data)

    def answer(self) -> list[Event]:
        found = []
        for event in self.events():
            found.append(event)
            if isinstance(event, Found) and event.last:
                break
        return found


@contextmanager
def child(folder: Path) -> Iterator[Child]:
    one = Child(folder)
    with one.process:
        try:
            yield one
        finally:
            one.process.kill()


def test_it_looks_again_and_again_and_ends_with_its_pipe(tmp_path: Path) -> None:
    put(tmp_path / "own/a.gguf", llama(name="a"))
    put(tmp_path / "home/.lmstudio/models/p/r/b.gguf", llama(name="b"))
    with child(tmp_path) as one:
        listener = Listener()
        one.ask(Setup(own=tmp_path / "own", index=tmp_path / "index"), Look(wishes=Wishes(), parts=True))
        first = [listener.take(event) for event in one.answer()]
        assert [len(result.models) for result in first if result is not None][-1] == 2
        put(tmp_path / "own/c.gguf", llama(name="c"))
        one.ask(Look(wishes=Wishes()))
        second = one.answer()
        assert [len(event.models) for event in second if isinstance(event, Records)] == [1]
        result = [listener.take(event) for event in second][-1]
        assert result is not None
        assert sorted(found.path.name for found in result.models) == ["a.gguf", "b.gguf", "c.gguf"]
        assert one.process.stdin
        one.process.stdin.close()
        assert one.process.wait(PATIENCE_S) == 0
    assert (tmp_path / "index").is_file()


def test_a_request_that_makes_no_sense_ends_it(tmp_path: Path) -> None:
    with child(tmp_path) as one:
        assert one.process.stdin
        one.process.stdin.write(b"\xff" * 64)
        one.process.stdin.close()
        assert one.process.wait(PATIENCE_S) == 2


@pytest.mark.slow
def test_it_goes_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    script = (
        "import subprocess, sys, time\n"
        "from engine.library.child.launch import command\n"
        "child = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(machine(tmp_path)),
    )
    assert parent.stdout
    orphan = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    gone, _ = psutil.wait_procs([orphan], timeout=PATIENCE_S)
    assert gone


@pytest.mark.slow
def test_the_program_starts_it_too(tmp_path: Path) -> None:
    program = [sys.executable, "-P", "-m", "app.main", "--library"]
    given_ = encode(Setup(own=tmp_path / "own")) + encode(Look(wishes=Wishes(others=False)))
    done = subprocess.run(program, input=given_, capture_output=True, env=environment(machine(tmp_path)), check=True)
    frames = Frames()
    frames.feed(done.stdout)
    found = []
    while (frame := frames.take()) is not None:
        found.append(decode_event(frame))
    assert isinstance(found[-1], Found)
    assert found[-1].folder_missing
