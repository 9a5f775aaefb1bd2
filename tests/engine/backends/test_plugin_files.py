"""Files that would end the process are told before the loader gets them; and what the set-up and the kernel record."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.backends.build_record import BuildRecord, read_build_record
from engine.backends.ggml import mapped_library
from engine.loading.why_cpu import missing_library
from tests.engine.backends.played import FakeGgml, Machine


def truncated(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(5000)


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[18:20] = (183 if raw[18] != 183 else 62).to_bytes(2, "little")
    path.write_bytes(raw)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_dead_link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.with_name("gone.so"))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (truncated, "The file is cut off: 5000 bytes are there, of at least "),
        (emptied, "The file is empty."),
        (foreign, "It is made for another kind of processor"),
        (a_folder, "It is a folder, not a file."),
        (a_pipe, "It is no plain file."),
        (a_dead_link, "The link points to nothing."),
    ],
)
def test_a_file_that_would_end_the_process_is_never_handed_to_the_loader(
    machine: Machine, spoil: Callable[[Path], None], words: str
) -> None:
    machine.put(machine.users, "hip")
    spoil(machine.users / "libggml-hip.so")
    ggml = FakeGgml()
    found = next(info for info in machine.load(ggml) if info.name == "ROCm")
    assert not found.loaded
    assert found.error is not None
    assert found.error.startswith(words)
    assert ggml.loaded == []


def test_the_missing_library() -> None:
    assert missing_library("libvulkan.so.1: cannot open shared object file: No such file") == "libvulkan.so.1"
    assert missing_library("/x/libggml-hip.so: undefined symbol: hipInit") is None


def test_build_record(tmp_path: Path) -> None:
    path = tmp_path / "build.json"
    assert read_build_record(path) == BuildRecord()
    path.write_text("{not json")
    assert read_build_record(path) == BuildRecord()
    path.write_text(json.dumps({"vulkan": False, "vulkan_reason": "no headers", "options": {}}))
    assert read_build_record(path) == BuildRecord(vulkan=False, vulkan_reason="no headers")


def test_the_library_that_is_mapped(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text(
        "7f00-7f01 r-xp 00000000 08:01 1   /opt/a b/libggml-base.so.0.25\n"
        "7f02-7f03 r-xp 00000000 08:01 2   /opt/a b/libggml.so.0.25\n"
        "7f04-7f05 rw-p 00000000 00:00 0\n"
    )
    assert mapped_library("libggml", maps) == Path("/opt/a b/libggml.so.0.25")
    assert mapped_library("libllama", maps) is None
    assert mapped_library("libggml", tmp_path / "gone") is None
