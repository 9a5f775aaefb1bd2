"""Room, and file systems that are special."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engine.downloads import disk
from engine.downloads.disk import check_file_size, has_holes
from engine.downloads.fetch import Fetcher
from engine.downloads.messages import Event, Progress
from engine.downloads.partial import bytes_here
from engine.errors import VrambleError
from engine.library.listing import FilePart
from tests.engine.downloads.conftest import FILE, REPO, content, fail, fetch_request, finish, folder, run_here
from tests.fakes.local_hub import LocalHub

GIB4 = 1 << 32


@pytest.fixture
def card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on a card; what file system that has the test writes."""
    monkeypatch.setenv("VRAMBLE_SYSROOT", str(tmp_path / "sys"))
    place = tmp_path / "card"
    place.mkdir()
    return place


def mounted(tmp_path: Path, place: Path, kind: str) -> None:
    table = tmp_path / "sys" / "proc" / "self" / "mounts"
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(f"/dev/root / ext4 rw 0 0\n/dev/mmcblk0p1 {place} {kind} rw 0 0\n")


def test_fat32_holds_no_more_than_4_gib(card: Path, tmp_path: Path) -> None:
    mounted(tmp_path, card, "vfat")
    check_file_size(card / "x.gguf", GIB4 - 1)
    with pytest.raises(VrambleError) as caught:
        check_file_size(card / "x.gguf", GIB4)
    assert caught.value.code == "file-too-big"
    assert "FAT32" in caught.value.message
    assert "x.gguf" in caught.value.message
    check_file_size(tmp_path / "x.gguf", GIB4)


@pytest.mark.parametrize(("kind", "holes"), [("vfat", False), ("exfat", False), ("ext4", True), ("btrfs", True)])
def test_one_connection_where_holes_are_filled_with_zeros(card: Path, tmp_path: Path, kind: str, holes: bool) -> None:
    mounted(tmp_path, card, kind)
    assert has_holes(card / "x.gguf") is holes


def test_an_unknown_file_system_is_taken_for_a_usual_one(card: Path) -> None:
    check_file_size(card / "x.gguf", GIB4)
    assert has_holes(card / "x.gguf")


@pytest.mark.parametrize("known", [True, False])
def test_a_file_that_is_too_large_for_fat32_is_refused_before_it_comes(
    hub: LocalHub, card: Path, tmp_path: Path, known: bool
) -> None:
    mounted(tmp_path, card, "vfat")
    hub.add(REPO, FILE, content(1000), told_size=GIB4)
    files = (FilePart(path=FILE, size=GIB4 if known else None),)
    assert fail(fetch_request(card, files=files), run_here).code == "file-too-big"
    assert hub.requests("GET", FILE) == []


def test_a_set_whose_second_part_is_too_large_is_refused_whole(hub: LocalHub, card: Path, tmp_path: Path) -> None:
    mounted(tmp_path, card, "vfat")
    files = (FilePart(path="a.gguf", size=10), FilePart(path="b.gguf", size=GIB4))
    assert fail(fetch_request(card, files=files), run_here).code == "file-too-big"
    assert hub.log == []


class Disk:
    """Free space that shrinks when the test says so."""

    def __init__(self, free: int) -> None:
        self.free = free

    def __call__(self, _folder: Path) -> int:
        return self.free


def test_what_other_downloads_will_write_counts(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000))
    for promised, fits in ((0, True), (5000, False)):
        request = fetch_request(tmp_path, promised=promised, files=(FilePart(path=FILE, size=1000),))
        fetcher = Fetcher(request, lambda _event: None, Disk(2000))
        if fits:
            assert fetcher.run().verified
            (folder(tmp_path) / FILE).unlink()
        else:
            with pytest.raises(VrambleError, match=r"6\.0 kB more are needed"):
                fetcher.run()


def test_a_disk_that_fills_up_stops_the_download_and_it_goes_on_later(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(3_000_000), pause_after=1_000_000)
    space = Disk(1 << 40)
    told: list[Event] = []

    def report(event: Event) -> None:
        told.append(event)
        if isinstance(event, Progress) and event.done >= 1_000_000:
            space.free = 0

    limits = type(fetch_request(tmp_path).limits)(report_s=0.0, reserve=1_000_000, stall_s=60)
    with pytest.raises(VrambleError) as caught:
        Fetcher(fetch_request(tmp_path, limits=limits), report, space).run()
    assert caught.value.code == "no-space"
    kept = bytes_here(folder(tmp_path) / FILE, 3_000_000)
    assert kept == 1_000_000
    hub.release()
    assert finish(fetch_request(tmp_path), run_here).sha256 == file.sha256
    assert hub.requests("GET", FILE)[-1].range == f"bytes={kept}-"


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.ENOSPC, "no-space"),
        (errno.EDQUOT, "no-space"),
        (errno.EFBIG, "file-too-big"),
        (errno.EROFS, "not-writable"),
        (errno.EIO, "write-failed"),
    ],
)
def test_each_refusal_of_the_disk_has_its_sentence(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    file = hub.add(REPO, FILE, content())
    real = os.pwrite

    def full(fd: int, data: bytes, at: int) -> int:
        if at >= 100_000:
            raise OSError(number, os.strerror(number))
        return real(fd, data[: 100_000 - at], at)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", full)
        failure = fail(fetch_request(tmp_path, connections=2), run_here)
    assert (failure.code, bool(failure.next_step)) == (code, True)
    assert bytes_here(folder(tmp_path) / FILE, 300_000) <= 100_000
    assert finish(fetch_request(tmp_path), run_here).sha256 == file.sha256


def test_dev_full_is_a_full_disk(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="space") as caught, Path("/dev/full").open("wb", buffering=0) as full:
        full.write(b"x")
    assert disk.write_error(caught.value, tmp_path / "x").code == "no-space"


def test_a_drive_that_cannot_read_what_was_written_is_named(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = hub.add(REPO, FILE, content(2_000_000))
    real = os.preadv

    def broken(fd: int, buffers: list[memoryview], at: int) -> int:
        if at:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(fd, buffers, at)

    with monkeypatch.context() as patch:
        patch.setattr(os, "preadv", broken)
        assert fail(fetch_request(tmp_path), run_here).code == "disk-unsteady"
    assert finish(fetch_request(tmp_path), run_here).sha256 == file.sha256
