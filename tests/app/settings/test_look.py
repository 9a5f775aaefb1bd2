"""What lies where and how much it takes."""

from __future__ import annotations

import json
import os
import re
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.jobs import ThreadExecutor
from app.paths import Paths
from app.settings.look import DiskLook, Part, places
from engine.build_facts import build_facts, build_line
from engine.folders import disk_use, shown_folder
from engine.licences import licences


def test_files_count_once_and_links_only_for_themselves(tmp_path: Path) -> None:
    inside = tmp_path / "models/owner/repo"
    inside.mkdir(parents=True)
    (inside / "a.gguf").write_bytes(b"x" * 1000)
    os.link(inside / "a.gguf", inside / "b.gguf")
    (tmp_path / "elsewhere").write_bytes(b"y" * 5000)
    (inside / "c.gguf").symlink_to(tmp_path / "elsewhere")
    (inside / "loop").symlink_to(tmp_path)
    links = sum((inside / name).lstat().st_size for name in ("c.gguf", "loop"))
    assert disk_use(tmp_path / "models") == 1000 + links
    assert disk_use(inside / "a.gguf") == 1000


def test_what_is_not_there_takes_nothing_and_what_cannot_be_known_is_unknown(tmp_path: Path) -> None:
    assert disk_use(tmp_path / "nowhere") == 0
    (tmp_path / "file").write_text("x")
    assert disk_use(tmp_path / "file" / "below") is None


def test_measuring_stops_between_two_files(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}").write_bytes(b"x")
    asked: list[int] = []

    def stopped() -> bool:
        asked.append(1)
        return len(asked) > 10

    assert disk_use(tmp_path, stopped) is None
    assert len(asked) == 11


def test_deep_folders_are_measured(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(900):
        folder = folder / "d"
        try:
            folder.mkdir()
        except OSError:
            break
    (folder.parent / "file").write_bytes(b"x" * 7)
    assert disk_use(tmp_path) == 7


def test_the_folder_to_show_is_made_or_a_parent(tmp_path: Path) -> None:
    assert shown_folder(tmp_path / "a/b") == tmp_path / "a/b"
    assert (tmp_path / "a/b").is_dir()
    (tmp_path / "file").write_text("x")
    assert shown_folder(tmp_path / "file" / "below") == tmp_path


@pytest.fixture
def look(qtbot: QtBot):
    look = DiskLook(ThreadExecutor("look"))
    yield look
    look.shutdown()


def test_places_are_measured_later(look: DiskLook, qtbot: QtBot, tmp_path: Path) -> None:
    paths = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    paths.models.mkdir(parents=True)
    (paths.models / "a.gguf").write_bytes(b"x" * 300)
    paths.database.write_bytes(b"d" * 20)
    paths.database.with_name("vramble.sqlite3-wal").write_bytes(b"w" * 5)
    sizes: dict[Part, int | None] = {}
    for place in places(paths):
        look.measure(place, partial(sizes.__setitem__, place.part))
    assert sizes == {}
    qtbot.waitUntil(lambda: len(sizes) == len(Part))
    assert sizes == {Part.MODELS: 300, Part.CONVERSATIONS: 25, Part.BACKENDS: 0, Part.CACHE: 0, Part.LOGS: 0}


def test_every_pinned_package_has_a_licence(repository: Path) -> None:
    found = {re.sub("[-_.]+", "-", licence.package.lower()): licence for licence in licences()}
    assert next(iter(found)) == "vramble"
    pinned = [
        line.partition("==")[0]
        for line in (repository / "requirements/runtime.txt").read_text().splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    ]
    missing = {name.lower() for name in pinned} - set(found) - {"colorama", "httpx2-jsfetch", "pywin32-ctypes"}
    assert not missing
    assert not [name for name, licence in found.items() if licence.licence == "unknown"]
    assert "Permission is hereby granted" in found["llama-cpp-python"].text


def test_a_program_that_is_not_installed_has_none() -> None:
    assert licences("no-such-program") == ()


def test_the_record_of_the_build_in_one_line(tmp_path: Path) -> None:
    record = tmp_path / "share/vramble/build.json"
    assert build_line(build_facts(tmp_path)) == ""
    record.parent.mkdir(parents=True)
    written = {
        "llama_cpp_python": "0.3.36",
        "llama_cpp_commit": "0123456789abcdef",
        "toolchain": {"libc": "glibc 2.36"},
    }
    record.write_text(json.dumps(written))
    assert build_line(build_facts(tmp_path)) == "0123456789ab, of llama-cpp-python 0.3.36, glibc 2.36"
    record.write_text("{broken")
    assert build_line(build_facts(tmp_path)) == ""
