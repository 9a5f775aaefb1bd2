"""Moving to a real second file system: one that has room, one that is full, one that cannot be written to."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library.copying import Pair
from engine.library.deletion import plan_deletion
from engine.library.hashing import Progress
from engine.library.index import Index
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo, RootKind
from engine.library.survey import Survey, Wishes
from engine.library.transfer import Room, move_files
from engine.library.whereabouts import Whereabouts
from engine.library.work import move
from tests.engine.library.making import llama
from tests.fakes.model_homes import machine, put

DATA = llama()
DRIVE_BYTES = 800 * 1024


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "drive"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=800k", "none", place], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("mounting needs rights that this run does not have")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def library(tmp_path: Path, drive: Path) -> tuple[InstalledModel, RootInfo, RootInfo]:
    """A model of the own folder, that folder and the drive."""
    put(tmp_path / "own/a/x/m-Q8_0.gguf", DATA)
    where = Whereabouts(tmp_path / "own", machine(tmp_path))
    found = Survey(where, Index()).scan(Wishes(roots=(where.root_for(drive),)))
    own, other = (
        next(root for root in found.roots if root.root.kind is kind) for kind in (RootKind.OWN, RootKind.FOLDER)
    )
    return next(model for model in found.models if model.root == own.id), own, other


def test_there_and_compared(tmp_path: Path, drive: Path) -> None:
    model, own, other = library(tmp_path, drive)
    target = drive / "a/x/m-Q8_0.gguf"
    (sha256,) = move_files([Pair(model.path, target)], Progress(), Room())
    assert (len(sha256), target.read_bytes(), model.path.exists()) == (64, DATA, False)
    assert (own.free, other.total) != (other.free, own.total)


def test_too_little_room_is_said_before(tmp_path: Path, drive: Path) -> None:
    model, own, other = library(tmp_path, drive)
    with pytest.raises(VrambleError) as caught:
        move(model, own, other, Progress())
    assert caught.value.code == "no-space"
    assert "819 kB" in caught.value.message
    assert list(drive.iterdir()) == []


def test_a_drive_that_fills_up_meanwhile_leaves_the_original(tmp_path: Path, drive: Path) -> None:
    big = DATA + bytes(DRIVE_BYTES)
    source = put(tmp_path / "own/big.gguf", big)
    with pytest.raises(VrambleError) as caught:
        move_files([Pair(source, drive / "big.gguf")], Progress(), Room())
    assert caught.value.code == "no-space"
    assert source.read_bytes() == big
    assert list(drive.iterdir()) == []


def test_a_drive_that_cannot_be_written_to(tmp_path: Path, drive: Path) -> None:
    put(drive / "there-Q8_0.gguf", DATA)
    subprocess.run(["mount", "-o", "remount,ro", drive], check=True)
    model, own, other = library(tmp_path, drive)
    assert (other.models, other.writable) == (1, False)
    with pytest.raises(VrambleError) as caught:
        move(model, own, other, Progress())
    assert caught.value.code == "not-a-target"
    where = Whereabouts(tmp_path / "own", machine(tmp_path))
    found = Survey(where, Index()).scan(Wishes(roots=(where.root_for(drive),)))
    lying = next(model for model in found.models if model.path.parent == drive)
    assert "cannot be written to" in plan_deletion(lying, drive).refused
    assert model.path.exists()
