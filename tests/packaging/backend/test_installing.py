"""Putting a plugin where Vramble looks: the right folder, whole or not at all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from vramble_setup.backend import installing
from vramble_setup.report import SetupError

from app.paths import find_paths

NAME = "libggml-hip.so"


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / NAME).write_bytes(b"plugin" * 1000)
    (folder / "record.json").write_text(json.dumps({"bytes": 6000}))
    return folder


@pytest.mark.parametrize("variable", ["VRAMBLE_HOME", "XDG_DATA_HOME", ""])
def test_the_folder_is_the_programs(variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = {"HOME": str(tmp_path)} | ({variable: str(tmp_path / "own")} if variable else {})
    for name in ("VRAMBLE_HOME", "XDG_DATA_HOME", "VRAMBLE_BACKENDS_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert installing.user_folder(environment) == find_paths().backends


def test_the_folder_that_the_worker_is_told(tmp_path: Path) -> None:
    environment = {"VRAMBLE_BACKENDS_DIR": str(tmp_path), "VRAMBLE_HOME": "/elsewhere"}
    assert installing.user_folder(environment) == tmp_path


def test_plugin_and_record_and_nothing_else(built: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "backends"
    goal = installing.install(built, NAME, folder)
    assert goal == folder / NAME
    assert sorted(path.name for path in folder.iterdir()) == ["libggml-hip.json", NAME]
    assert goal.stat().st_mode & 0o777 == 0o755
    (built / NAME).write_bytes(b"newer")
    installing.install(built, NAME, folder)
    assert goal.read_bytes() == b"newer"


def test_a_process_that_has_the_old_one_loaded_keeps_it(built: Path, tmp_path: Path) -> None:
    installing.install(built, NAME, tmp_path)
    with (tmp_path / NAME).open("rb") as loaded:
        (built / NAME).write_bytes(b"newer")
        installing.install(built, NAME, tmp_path)
        assert loaded.read() == b"plugin" * 1000


def test_a_link_is_replaced_and_not_written_through(built: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep")
    folder = tmp_path / "backends"
    folder.mkdir()
    (folder / NAME).symlink_to(precious)
    installing.install(built, NAME, folder)
    assert precious.read_text() == "keep"
    assert not (folder / NAME).is_symlink()


def test_a_full_disk_leaves_the_old_one(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "backends"
    installing.install(built, NAME, folder)
    before = (folder / NAME).read_bytes()

    def full(source: Path, goal: Path) -> None:
        goal.write_bytes(b"pl")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(SetupError, match="No space left on device") as caught:
        installing.install(built, NAME, folder)
    assert "the build is kept" in caught.value.advice
    assert (folder / NAME).read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["libggml-hip.json", NAME]


def test_where_it_cannot_be_put(built: Path, tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(SetupError, match="is a folder"):
        installing.install(built, NAME, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="could not be put into"):
        installing.install(built, NAME, tmp_path / "file")
