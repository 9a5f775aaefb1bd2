"""Moving and copying: whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library import copying, transfer
from engine.library.copying import Pair, open_draft, temporary
from engine.library.hashing import BLOCK, Progress, StoppedError
from engine.library.mounts import FAT_LIMIT
from engine.library.transfer import Room, link_file, move_files, reflink
from tests.fakes.model_homes import put

ROOM = Room()
DATA = os.urandom(9 << 20)


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(put(tmp_path / "here/m.gguf", DATA), tmp_path / "there/x/m.gguf")


@pytest.fixture
def other_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename never works, as between two drives."""
    monkeypatch.setattr(transfer, "_same_drive", lambda source, folder: False)


def code_of(*arguments: object, **more: object) -> str:
    with pytest.raises(VrambleError) as caught:
        move_files(*arguments, **more)  # type: ignore[arg-type]
    return caught.value.code


def rests(pair: Pair) -> list[Path]:
    folder = pair.target.parent
    return list(folder.iterdir()) if folder.exists() else []


def test_on_one_drive_it_is_a_rename(pair: Pair) -> None:
    inode = pair.source.stat().st_ino
    assert move_files([pair], Progress(), ROOM) == ("",)
    assert (pair.target.stat().st_ino, pair.source.exists()) == (inode, False)


@pytest.mark.usefixtures("other_drive")
def test_a_file_that_came_while_the_copy_grew_stays(pair: Pair) -> None:
    class Downloading(Progress):
        def add(self, count: int) -> None:
            pair.target.write_bytes(b"another")
            super().add(count)

    assert code_of([pair], Downloading(), ROOM) == "move-failed"
    assert (pair.target.read_bytes(), pair.source.read_bytes() == DATA) == (b"another", True)
    assert rests(pair) == [pair.target]


@pytest.mark.usefixtures("other_drive")
def test_a_copy_is_read_back_before_the_source_goes(pair: Pair) -> None:
    progress = Progress()
    os.utime(pair.source, (1000, 1000))
    (sha256,) = move_files([pair], progress, ROOM)
    assert len(sha256) == 64
    assert (pair.target.read_bytes(), pair.source.exists()) == (DATA, False)
    assert (progress.done, progress.total) == (2 * len(DATA), 2 * len(DATA))
    assert pair.target.stat().st_mtime == 1000


@pytest.mark.usefixtures("other_drive")
def test_cancelled_at_any_block_the_source_is_whole_and_nothing_is_left(pair: Pair) -> None:
    blocks = 2 * -(-len(DATA) // BLOCK)
    for last in range(blocks):
        left = [last]

        def stop(left: list[int] = left) -> bool:
            left[0] -= 1
            return left[0] < 0

        with pytest.raises(StoppedError):
            move_files([pair], Progress(stop=stop), ROOM)
        assert pair.source.read_bytes() == DATA
        assert rests(pair) == []


@pytest.mark.usefixtures("other_drive")
def test_a_drive_that_gives_back_other_bytes_keeps_the_source(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "sha256_of", lambda *_, **__: "0" * 64)
    assert code_of([pair], Progress(), ROOM) == "copy-differs"
    assert (pair.source.read_bytes(), rests(pair)) == (DATA, [])


@pytest.mark.usefixtures("other_drive")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "no-space"),
        (errno.EFBIG, "file-too-big"),
        (errno.EIO, "move-failed"),
        (errno.EROFS, "move-failed"),
    ],
)
def test_errors_of_the_drive_leave_the_source(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    def fails(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "pwrite", fails)
    assert code_of([pair], Progress(), ROOM) == code
    assert (pair.source.read_bytes(), rests(pair)) == (DATA, [])


@pytest.mark.usefixtures("other_drive")
@pytest.mark.parametrize(
    ("room", "code"),
    [(Room(free=len(DATA)), "no-space"), (Room(free=1 << 40, file_limit=1 << 20), "file-too-big")],
)
def test_room_is_looked_at_before(pair: Pair, room: Room, code: str) -> None:
    assert code_of([pair], Progress(), room) == code
    assert rests(pair) == []


def test_fat_holds_four_gibibytes_less_one() -> None:
    assert FAT_LIMIT == 4 * 1024**3 - 1


def test_what_is_there_is_never_overwritten(pair: Pair) -> None:
    put(pair.target, b"other")
    assert code_of([pair], Progress(), ROOM) == "already-there"
    assert (pair.source.read_bytes(), pair.target.read_bytes()) == (DATA, b"other")


@pytest.mark.usefixtures("other_drive")
def test_parts_get_their_names_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [Pair(put(tmp_path / f"here/{no}", DATA), tmp_path / f"there/{no}") for no in range(3)]
    copies: list[Path] = []
    copy = copying._copy

    def counted(source: Path, draft: Path, handle: int, progress: Progress) -> str:
        copies.append(draft)
        assert not any(pair.target.exists() for pair in pairs)
        return copy(source, draft, handle, progress)

    monkeypatch.setattr(copying, "_copy", counted)
    move_files(pairs, Progress(), ROOM)
    assert len(copies) == 3
    assert [pair.target.read_bytes() == DATA for pair in pairs] == [True] * 3
    assert not any(pair.source.exists() for pair in pairs)


@pytest.mark.usefixtures("other_drive")
def test_a_source_that_cannot_be_deleted_is_told(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink

    def refused(path: Path, missing_ok: bool = False) -> None:
        if path == pair.source:
            raise PermissionError(errno.EPERM, "Operation not permitted")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    assert code_of([pair], Progress(), ROOM) == "source-stays"
    assert (pair.source.read_bytes(), pair.target.read_bytes()) == (DATA, DATA)


@pytest.mark.usefixtures("other_drive")
def test_two_that_bring_the_same_file_do_not_spoil_it(pair: Pair) -> None:
    pair.target.parent.mkdir(parents=True)
    handle = open_draft(temporary(pair.target))
    try:
        assert code_of([pair], Progress(), ROOM) == "busy"
    finally:
        os.close(handle)
    assert pair.source.read_bytes() == DATA


def test_a_long_name_has_room_for_its_draft() -> None:
    assert len(temporary(Path("/x") / ("é" * 127)).name) < 64


def test_a_link_is_another_name_of_the_same_file(pair: Pair) -> None:
    assert link_file(pair) == "hard"
    assert pair.target.samefile(pair.source)


def test_a_link_over_drives_is_symbolic(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def other_drive(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", other_drive)
    how = link_file(pair)
    assert pair.target.read_bytes() == DATA
    assert (how == "symbolic") == pair.target.is_symlink()


def test_a_drive_without_links_says_so(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    monkeypatch.setattr(transfer, "reflink", lambda *_: False)
    monkeypatch.setattr(Path, "symlink_to", refused)
    with pytest.raises(VrambleError) as caught:
        link_file(pair)
    assert (caught.value.code, caught.value.next_step) == ("no-links", "Copy or move the file instead.")


def test_a_link_to_a_link_means_the_file(tmp_path: Path) -> None:
    real = put(tmp_path / "real.gguf", DATA)
    (tmp_path / "link.gguf").symlink_to(real)
    link_file(Pair(tmp_path / "link.gguf", tmp_path / "there/m.gguf"))
    assert (tmp_path / "there/m.gguf").samefile(real)
    assert not (tmp_path / "there/m.gguf").is_symlink()


def test_shared_blocks_leave_nothing_where_they_do_not_work(pair: Pair) -> None:
    pair.target.parent.mkdir(parents=True)
    assert reflink(pair.source, pair.target) == pair.target.exists()
