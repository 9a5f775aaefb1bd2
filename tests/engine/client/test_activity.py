"""What /proc says of a process, from recorded texts and from this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.client.activity import FAULTS, READ_BYTES, STUCK, Activity, read_activity

STAT = (
    "4242 (vramble (worker) x) D 4200 4242 4200 0 -1 4194304 51000 0 {faults} 0 900 120 0 0 20 0 9 0 700 9000000 1234 "
    "18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 3 0 0 0 0 0\n"
)
IO = "rchar: {rchar}\nwchar: 10\nsyscr: 5\nsyscw: 1\nread_bytes: {read}\nwrite_bytes: 0\ncancelled_write_bytes: 0\n"


def process(root: Path, *, rchar: int = 0, read: int = 0, faults: int = 0) -> Activity:
    folder = root / "proc" / "4242"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "io").write_text(IO.format(rchar=rchar, read=read))
    (folder / "stat").write_text(STAT.format(faults=faults))
    return read_activity(4242, root)


def test_a_name_with_brackets_does_not_shift_the_fields(tmp_path: Path) -> None:
    assert process(tmp_path, rchar=5, read=700, faults=31) == Activity(read=700, faults=31, state=STUCK)


@pytest.mark.parametrize(
    ("later", "moved"),
    [
        ({"rchar": READ_BYTES}, True),
        ({"read": READ_BYTES}, True),
        ({"faults": FAULTS}, True),
        ({"rchar": READ_BYTES - 1, "read": 4096, "faults": FAULTS - 1}, False),
        ({}, False),
    ],
)
def test_movement(tmp_path: Path, later: dict[str, int], moved: bool) -> None:
    before = process(tmp_path)
    assert process(tmp_path, **later).moved_since(before) is moved


def test_what_is_not_there_is_unknown_and_no_movement(tmp_path: Path) -> None:
    nothing = read_activity(4242, tmp_path)
    assert nothing == Activity()
    assert not nothing.moved_since(Activity(read=0, faults=0))
    assert not Activity(read=10**9, faults=10**6).moved_since(nothing)


def test_this_process(tmp_path: Path) -> None:
    before = read_activity(os.getpid())
    assert before.state == "R"
    file = tmp_path / "weights"
    file.write_bytes(bytes(2 * READ_BYTES))
    file.read_bytes()
    assert read_activity(os.getpid()).moved_since(before)
