"""The reader over FIFOs in place of devices, with a clock that tests turn."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.own_process import module_command, with_source
from engine.pad.reading import HOLD_S, LOOK_S, REPEAT_S, Reader
from tests.fakes.pad import FakePad, add_pad


class Desk:
    """A reader, what it told, and its clock."""

    def __init__(self, root: Path) -> None:
        self.told: list[str] = []
        self.now = 100.0
        self.reader = Reader(root, self.told.append, lambda: self.now)

    def look(self) -> None:
        self.now += LOOK_S
        self.reader.look()

    def read(self) -> list[str]:
        for handle in self.reader.handles:
            self.reader.read(handle)
        told, self.told[:] = list(self.told), []
        return told


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.reader.close()


@pytest.fixture
def pad(tmp_path: Path) -> Iterator[FakePad]:
    made = FakePad(tmp_path)
    yield made
    made.close()


def test_no_pad_is_told_once(desk: Desk) -> None:
    desk.look()
    desk.look()
    assert desk.told == ["pads 0"]
    assert 0 < desk.reader.wait_s() <= LOOK_S


def test_presses(desk: Desk, pad: FakePad) -> None:
    desk.look()
    pad.press("a", "menu")
    assert desk.read() == ["pads 1", "press a", "press menu"]
    assert desk.read() == []


def test_a_held_direction_repeats_until_it_is_let_go(desk: Desk, pad: FakePad) -> None:
    desk.look()
    pad.push("down")
    assert desk.read()[-1] == "press down"
    desk.reader.repeat()
    assert desk.told == []
    desk.now += HOLD_S
    desk.reader.repeat()
    desk.reader.repeat()
    desk.now += REPEAT_S
    desk.reader.repeat()
    assert desk.told == ["press down"] * 2
    desk.told.clear()
    pad.push("down", 0)
    assert desk.read() == []
    desk.now += HOLD_S
    desk.reader.repeat()
    assert desk.told == []


def test_pads_come_and_go(desk: Desk, tmp_path: Path, pad: FakePad) -> None:
    desk.look()
    other = FakePad(tmp_path, 8)
    desk.look()
    assert desk.told == ["pads 1", "pads 2"]
    other.push("left")
    assert desk.read()[-1] == "press left"
    shutil.rmtree(tmp_path / "sys/class/input/event8")
    desk.look()
    desk.reader.repeat()
    assert desk.told == ["pads 1"]
    other.close()


def test_a_pad_that_is_pulled_out_is_let_go(desk: Desk, tmp_path: Path) -> None:
    pad = FakePad(tmp_path)
    desk.look()
    pad.press("b")
    assert desk.read() == ["pads 1", "press b"]
    pad.close()
    shutil.rmtree(tmp_path / "sys")
    assert desk.read() == ["pads 0"]
    desk.look()
    assert desk.told == []


def test_a_pad_that_opens_but_cannot_be_read_waits_for_the_next_look(desk: Desk, tmp_path: Path) -> None:
    add_pad(tmp_path, 5)
    device = tmp_path / "dev/input/event5"
    device.parent.mkdir(parents=True, exist_ok=True)
    device.write_bytes(b"")
    desk.look()
    assert desk.read() == ["pads 1", "pads 0"]
    assert desk.reader.wait_s() == LOOK_S
    desk.reader.look()
    assert desk.reader.handles == []
    desk.look()
    assert desk.told == ["pads 1"]


def test_a_pad_that_may_not_be_read_is_none(desk: Desk, tmp_path: Path) -> None:
    add_pad(tmp_path, 5)
    desk.look()
    assert desk.told == ["pads 0"]


def test_the_child_ends_with_its_input(tmp_path: Path, pad: FakePad) -> None:
    environ = with_source({**os.environ, "VRAMBLE_SYSROOT": str(tmp_path)})
    child = subprocess.Popen(
        module_command("engine.pad"), env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdin is not None
    assert child.stdout.readline() == "pads 1\n"
    pad.press("x")
    assert child.stdout.readline() == "press x\n"
    child.stdin.close()
    assert child.wait(60) == 0
    child.stdout.close()
