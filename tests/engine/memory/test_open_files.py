"""Files that stay open between two readings: what stands there now is what is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.memory.open_files import FIRST_PART, OpenFiles
from engine.memory.tree import Tree


def handles() -> int:
    """Open files of this process."""
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_changed_file_is_read_anew_through_the_same_handle(tmp_path: Path) -> None:
    path = tmp_path / "mem_info_vram_used"
    path.write_text("1\n")
    files = OpenFiles()
    assert files.read(str(path)) == b"1\n"
    before = handles()
    for value in ("22\n", "3\n", ""):
        path.write_text(value)
        assert files.read(str(path)) == value.encode()
    assert handles() == before
    assert len(files) == 1


def test_long_files_come_whole(tmp_path: Path) -> None:
    path = tmp_path / "long"
    data = os.urandom(3 * FIRST_PART + 5)
    path.write_bytes(data)
    files = OpenFiles()
    assert files.read(str(path)) == data == files.read(str(path))


def test_a_file_that_fails_is_tried_once_more_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "fdinfo"
    path.write_text("old\n")
    files = OpenFiles()
    files.read(str(path))
    (handle,) = files._handles.values()
    folder = os.open(tmp_path, os.O_RDONLY)
    os.dup2(folder, handle)  # it cannot be read any more, like a file of a process that has ended
    os.close(folder)
    path.unlink()
    path.write_text("new\n")
    assert files.read(str(path)) == b"new\n"
    path.unlink()
    files.close(str(path))
    with pytest.raises(FileNotFoundError):
        files.read(str(path))
    assert len(files) == 0


def test_a_folder_in_its_place_is_refused_and_leaves_nothing_open(tmp_path: Path) -> None:
    files = OpenFiles()
    before = handles()
    with pytest.raises(IsADirectoryError):
        files.read(str(tmp_path))
    assert handles() == before


def test_only_so_many_stay_open_and_none_behind(tmp_path: Path) -> None:
    before = handles()
    files = OpenFiles(most=3)
    for number in range(10):
        (tmp_path / str(number)).write_text(f"{number}\n")
        assert files.read(str(tmp_path / str(number))) == f"{number}\n".encode()
        assert len(files) <= 3
    assert handles() == before + 3
    del files
    assert handles() == before


def test_a_tree_lets_go_of_what_is_released(tmp_path: Path) -> None:
    (tmp_path / "power").write_text("7\n")
    tree = Tree(tmp_path)
    before = handles()
    assert tree.live("power") == "7\n"
    assert handles() == before + 1
    tree.release("power")
    tree.release("power")
    assert handles() == before
