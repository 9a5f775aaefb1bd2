"""The inbox: one request at a time, cancels during work, garbage answered where it can be."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from engine.protocol.codec import encode
from engine.protocol.frames import Cancel, Failed, Forget, FromWorker, Generate, Load, ToWorker
from engine.worker.cancel import CancelFlag
from engine.worker.reader import FrameWriter, Inbox
from tests.engine.worker.driver import user


class Rig:
    """An inbox that is fed without a thread."""

    def __init__(self) -> None:
        self.sent: list[FromWorker] = []
        self.cancel = CancelFlag()
        self.inbox = Inbox(-1, self.sent.append, self.cancel)

    def feed(self, *frames: ToWorker) -> None:
        self.feed_bytes(b"".join(encode(frame) for frame in frames))

    def feed_bytes(self, data: bytes) -> None:
        self.inbox.feed(data)

    def next_id(self) -> int:
        item = self.inbox.next()
        assert item is not None
        assert not isinstance(item[0], Forget)
        return item[0].id


@pytest.fixture
def rig() -> Rig:
    return Rig()


def generate(number: int) -> Generate:
    return Generate(id=number, messages=(user("hi"),))


def test_a_second_request_is_busy_until_the_first_is_finished(rig: Rig) -> None:
    rig.feed(generate(1), generate(2))
    assert [frame.id for frame in rig.sent if isinstance(frame, Failed) and frame.code == "busy"] == [2]
    assert rig.next_id() == 1
    rig.inbox.finish()
    rig.feed(generate(3))
    assert rig.next_id() == 3


def test_a_cancel_reaches_a_request_that_waits_to_be_taken(rig: Rig) -> None:
    rig.feed(generate(1), Cancel(target=1))
    assert rig.cancel.is_set


@pytest.mark.parametrize("target", [0, 2, 99])
def test_a_cancel_of_another_request_is_ignored(rig: Rig, target: int) -> None:
    rig.feed(generate(1), Cancel(target=target))
    assert not rig.cancel.is_set


def test_a_late_cancel_does_not_hit_the_next_request(rig: Rig) -> None:
    rig.feed(generate(1))
    rig.next_id()
    rig.inbox.finish()
    rig.feed(Cancel(target=1), generate(2))
    assert not rig.cancel.is_set


def test_a_flag_that_was_set_is_cleared_for_the_next_request(rig: Rig) -> None:
    rig.feed(generate(1), Cancel(target=1))
    rig.inbox.finish()
    assert not rig.cancel.is_set


def test_garbage_without_an_id_is_only_logged(rig: Rig, capfd: pytest.CaptureFixture[str]) -> None:
    rig.feed_bytes(b"null\n{}\nlog line\n")
    assert rig.sent == []
    assert capfd.readouterr().err.count("is no frame") == 3


def test_a_request_with_a_wrong_field_gets_its_terminal_frame(rig: Rig) -> None:
    rig.feed_bytes(b'{"type":"load","id":7,"path":5}\n')
    assert [(type(frame), frame.id, frame.code) for frame in rig.sent if isinstance(frame, Failed)] == [
        (Failed, 7, "bad-request")
    ]
    rig.feed(Load(id=8, path="x"))
    assert rig.next_id() == 8


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_the_writer_writes_whole_lines(pipe: tuple[int, int]) -> None:
    writer = FrameWriter(pipe[1])
    writer.send(Failed(id=1, code="busy", message="a"))
    writer.send(Failed(id=2, code="busy", message="b"))
    assert os.read(pipe[0], 4096).count(b"\n") == 2


def test_native_code_sees_the_flag() -> None:
    """The callback is what llama.cpp calls: false first, true when it is set, false after clearing."""
    import ctypes

    flag = CancelFlag()
    callback = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(flag.callback_address)
    seen = [callback(flag.data_address)]
    flag.set()
    seen.append(callback(flag.data_address))
    flag.clear()
    seen.append(callback(flag.data_address))
    assert seen == [False, True, False]
