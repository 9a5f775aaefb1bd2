"""Work that fails in the middle says what became of each file, and special files are never read."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from engine.errors import VrambleError
from engine.library import joining, transfer
from engine.library.copying import Pair
from engine.library.hashing import Progress, sha256_of
from engine.library.joining import join, share
from engine.library.records import InstalledModel
from engine.library.regular import open_regular
from engine.library.scan import scan
from engine.library.states import FileState
from engine.library.transfer import Room, move_files
from engine.library.work import verify
from tests.engine.library.making import llama
from tests.fakes.model_homes import put
from tests.fakes.tiny_gguf import split_set

DATA = llama()
BUSY = OSError(16, "Device or resource busy")


def only(folder: Path) -> InstalledModel:
    (model,) = scan(folder).models
    return model


def pieces(folder: Path) -> InstalledModel:
    third = len(DATA) // 3
    for number, data in enumerate((DATA[:third], DATA[third : 2 * third], DATA[2 * third :]), 1):
        put(folder / f"m.gguf.part{number}of3", data)
    return only(folder)


# ---- pieces


def test_pieces_that_cannot_be_deleted_are_told_and_the_file_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, unlink = pieces(tmp_path), Path.unlink

    def busy(path: Path, missing_ok: bool = False) -> None:
        if path.name.endswith("part2of3"):
            raise BUSY
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", busy)
    with pytest.raises(VrambleError) as caught:
        join(model, Progress())
    assert caught.value.code == "pieces-stay"
    assert caught.value.message.startswith(
        "m.gguf is whole and can be used; 1 of its 3 pieces could not be deleted: Dev"
    )
    assert caught.value.detail == str(tmp_path / "m.gguf.part2of3")
    assert (tmp_path / "m.gguf").read_bytes() == DATA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.gguf", "m.gguf.part2of3"]


def test_a_file_that_comes_meanwhile_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = pieces(tmp_path)
    monkeypatch.setattr(joining, "_check_joined", lambda _draft: put(tmp_path / "m.gguf", b"another"))
    with pytest.raises(VrambleError) as caught:
        join(model, Progress())
    assert caught.value.sentence.endswith("The pieces are as they were. Check the drive and its free space.")
    assert (tmp_path / "m.gguf").read_bytes() == b"another"
    assert len(list(tmp_path.iterdir())) == 4


# ---- one copy of two


def twins(folder: Path) -> tuple[InstalledModel, InstalledModel]:
    for name, data in split_set(3).items():
        put(folder / "a" / name, data)
        put(folder / "b" / name, data)
    return only(folder / "a"), only(folder / "b")


def test_a_share_that_fails_in_the_middle_says_how_far_it_got(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = twins(tmp_path)
    replace = joining._replace_by
    done: list[Path] = []

    def once(path: Path, source: Path) -> None:
        if done:
            raise BUSY
        done.append(path)
        replace(path, source)

    monkeypatch.setattr(joining, "_replace_by", once)
    with pytest.raises(VrambleError) as caught:
        share(second, first, Progress())
    assert caught.value.message.startswith("1 of 3 files take their room once now; ")
    assert second.parts[1].name in caught.value.message
    assert [part.samefile(other) for part, other in zip(second.parts, first.parts, strict=True)] == [True, False, False]
    assert verify([second], Progress()).wrong == ()


def test_a_share_that_never_began_leaves_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = twins(tmp_path)

    def refused(path: Path, source: Path) -> None:
        raise BUSY

    monkeypatch.setattr(joining, "_replace_by", refused)
    with pytest.raises(VrambleError) as caught:
        share(second, first, Progress())
    assert caught.value.next_step == "Both are as they were. Delete one of them."


def test_a_file_that_changes_while_it_is_compared_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = twins(tmp_path)

    def changing(path: Path, progress: Progress) -> str:
        found = sha256_of(path, progress)
        if path == second.parts[0]:
            put(path, b"other bytes")
        return found

    monkeypatch.setattr(joining, "sha256_of", changing)
    with pytest.raises(VrambleError) as caught:
        share(second, first, Progress())
    assert caught.value.code == "changed-meanwhile"
    assert second.parts[0].read_bytes() == b"other bytes"


# ---- a move that breaks off


def test_what_could_not_be_moved_back_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [Pair(put(tmp_path / f"a/{name}", DATA), tmp_path / f"b/{name}") for name in ("1.gguf", "2.gguf")]
    rename = Path.rename

    def breaking(path: Path, target: Path) -> Path:
        if path.name == "2.gguf" or path.parent.name == "b":
            raise BUSY
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", breaking)
    with pytest.raises(VrambleError) as caught:
        move_files(pairs, Progress(), Room())
    assert caught.value.code == "half-moved"
    assert "1.gguf could not be brought back" in caught.value.message
    assert caught.value.detail == str(tmp_path / "b/1.gguf")
    assert (tmp_path / "a/2.gguf").exists()
    assert transfer.How.MOVE


# ---- special files


@pytest.fixture
def fifo(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "m.gguf")
    return tmp_path / "m.gguf"


def test_a_pipe_or_device_is_not_opened_for_reading(fifo: Path) -> None:
    for path in (fifo, Path("/dev/zero"), fifo.parent):
        with pytest.raises(OSError, match="not a regular file"):
            open_regular(path)


def test_a_model_that_became_a_pipe_is_a_sentence(tmp_path: Path) -> None:
    put(tmp_path / "own/m.gguf", DATA)
    model = only(tmp_path / "own")
    model.path.unlink()
    os.mkfifo(model.path)
    with pytest.raises(VrambleError) as caught:
        verify([model], Progress())
    assert (caught.value.code, "not a regular file" in caught.value.message) == ("unreadable", True)
    model.path.unlink()
    model.path.symlink_to("/dev/zero")
    with pytest.raises(VrambleError):
        verify([model], Progress())


def test_files_that_the_kernel_makes_up_have_no_bytes_to_wait_for(tmp_path: Path) -> None:
    """Their size is 0: what comes out of them never ends, or has still to come."""
    for name in ("/proc/kmsg", "/proc/cpuinfo"):
        try:
            assert sha256_of(Path(name), Progress()) == sha256_of(put(tmp_path / "empty", b""), Progress())
        except PermissionError:
            continue


def test_what_is_no_model_by_its_first_bytes_is_wrong_without_being_read(tmp_path: Path) -> None:
    """A link may lead to 128 TiB of memory, such as /proc/kcore."""
    huge = put(tmp_path / "huge", b"\x7fELF")
    os.truncate(huge, 1 << 40)
    (tmp_path / "own").mkdir()
    (tmp_path / "own/kcore.gguf").symlink_to(huge)
    model = only(tmp_path / "own")
    assert model.state is FileState.NOT_GGUF
    progress = Progress()
    assert verify([model], progress).wrong == (model.path,)
    assert (progress.done, progress.total) == (0, 0)
    readable = msgspec.structs.replace(model, state=FileState.DAMAGED, parts=(put(tmp_path / "x", b"abc"),))
    assert verify([readable], progress).wrong == (model.path,)
    assert progress.done == 3
