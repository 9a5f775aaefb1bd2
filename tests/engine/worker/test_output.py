"""Deltas: first text at once, then at most thirty a second."""

from __future__ import annotations

import pytest

from engine.protocol.frames import Delta, FromWorker
from engine.worker.output import DeltaWriter


class Rig:
    """A writer with a clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sent: list[Delta] = []
        self.writer = DeltaWriter(5, self._send, lambda: self.now)

    def _send(self, frame: FromWorker) -> None:
        assert isinstance(frame, Delta)
        self.sent.append(frame)


def test_the_first_text_goes_out_at_once() -> None:
    rig = Rig()
    rig.writer.add("", 1, rig.now)
    rig.writer.add("a", 2, rig.now)
    assert [(delta.id, delta.text, delta.tokens) for delta in rig.sent] == [(5, "a", 2)]


def test_a_second_of_tokens_makes_few_frames_and_loses_nothing() -> None:
    rig = Rig()
    for count in range(1, 1001):
        rig.writer.add("x", count, rig.now)
        rig.now += 0.001
    rig.writer.flush("end", 1000)
    assert len(rig.sent) <= 32
    assert "".join(delta.text for delta in rig.sent) == "x" * 1000 + "end"


def test_the_present_speed() -> None:
    rig = Rig()
    for count in range(1, 101):
        rig.writer.add("x", count, rig.now)
        rig.now += 0.05
    assert rig.sent[0].tps == 0
    assert rig.sent[-1].tps == pytest.approx(20, rel=0.05)


def test_a_thought_goes_before_the_answer_in_a_field_of_its_own() -> None:
    rig = Rig()
    rig.writer.add("", 1, rig.now, "so ")
    rig.writer.add("", 2, rig.now, "it")
    rig.writer.add("Yes", 3, rig.now, " is")
    rig.writer.flush(".", 4)
    assert [(delta.thinking, delta.text, delta.tokens) for delta in rig.sent] == [("so ", "", 1), ("it is", "Yes.", 4)]


def test_nothing_left_sends_nothing() -> None:
    rig = Rig()
    rig.writer.flush("", 0)
    assert rig.sent == []
