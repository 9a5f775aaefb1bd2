"""Changes that the kernel tells of."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.library.inotify import EVENT, IN_CREATE, IN_ISDIR, IN_MOVED_TO, FolderWatch, events_in, is_relevant
from tests.fakes.model_homes import put


@pytest.fixture
def watch() -> Iterator[FolderWatch]:
    watch = FolderWatch()
    yield watch
    watch.close()


def happened(watch: FolderWatch) -> bool:
    """Whether something relevant is to be read; the kernel has written it before the change returned."""
    return bool(select.select([watch.handle], [], [], 0)[0]) and watch.read()


def test_a_file_counts_once_it_is_closed(watch: FolderWatch, tmp_path: Path) -> None:
    watch.watch([tmp_path])
    with (tmp_path / "m.gguf").open("wb") as file:
        file.write(b"x")
        assert not happened(watch)
    assert happened(watch)
    assert not happened(watch)


def test_coming_going_and_renaming(watch: FolderWatch, tmp_path: Path) -> None:
    watch.watch([tmp_path])
    (tmp_path / "folder").mkdir()
    assert happened(watch)
    path = put(tmp_path / "m.gguf", b"x")
    assert happened(watch)
    path = path.rename(tmp_path / "n.gguf")
    assert happened(watch)
    path.unlink()
    assert happened(watch)
    (tmp_path / "folder").rmdir()
    assert happened(watch)


def test_steps_of_a_download_do_not_count(watch: FolderWatch, tmp_path: Path) -> None:
    watch.watch([tmp_path])
    for name in ("m.gguf.part", "m.gguf.part.json", ".m.gguf.json", "sha256-ab-partial-0", "x.incomplete"):
        put(tmp_path / name, b"x")
    assert not happened(watch)
    (tmp_path / "m.gguf.part").rename(tmp_path / "m.gguf")
    assert happened(watch)


def test_folders_that_are_wanted_no_more_are_left(watch: FolderWatch, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert watch.watch([tmp_path / "a", tmp_path / "none"]) == 1
    assert watch.watch([tmp_path / "b"]) == 1
    watch.read()
    put(tmp_path / "a/m.gguf", b"x")
    assert not happened(watch)
    put(tmp_path / "b/m.gguf", b"x")
    assert happened(watch)


def test_a_folder_that_goes_itself_counts(watch: FolderWatch, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    watch.watch([tmp_path / "a"])
    (tmp_path / "a").rmdir()
    assert happened(watch)


def test_names_that_are_no_text(watch: FolderWatch, tmp_path: Path) -> None:
    watch.watch([tmp_path])
    put(tmp_path / os.fsdecode(b"\xff.gguf"), b"x")
    assert happened(watch)


def test_events_are_read_as_the_kernel_writes_them() -> None:
    data = EVENT.pack(1, IN_MOVED_TO, 7, 16) + b"m.gguf".ljust(16, b"\0") + EVENT.pack(2, IN_CREATE | IN_ISDIR, 0, 0)
    assert list(events_in(data)) == [(IN_MOVED_TO, b"m.gguf"), (IN_CREATE | IN_ISDIR, b"")]
    assert list(events_in(data[:-3])) == [(IN_MOVED_TO, b"m.gguf")]


@pytest.mark.parametrize(
    ("mask", "name", "relevant"),
    [
        (IN_CREATE, b"m.gguf", False),
        (IN_CREATE | IN_ISDIR, b"folder", True),
        (IN_MOVED_TO, b"m.gguf", True),
        (IN_MOVED_TO, b".hidden", False),
    ],
)
def test_what_counts(mask: int, name: bytes, relevant: bool) -> None:
    assert is_relevant(mask, name) is relevant
