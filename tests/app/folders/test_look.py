"""Listing folders for the own picker."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.folders.look import FolderList, FolderLook, StartPlace
from engine.folder_list import MOST, list_folder, start_places
from tests.app.chat.cranked import Cranked


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "b-folder").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "A-folder").mkdir()
    (tmp_path / "z.GGUF").write_bytes(b"12345")
    (tmp_path / "notes.txt").write_bytes(b"1")
    (tmp_path / "gone.gguf").symlink_to(tmp_path / "nowhere")
    return tmp_path


def test_folders_first_then_models_without_what_is_hidden(home: Path) -> None:
    found = list_folder(home)
    assert [(entry.path.name, entry.is_folder, entry.size) for entry in found.entries] == [
        ("A-folder", True, 0),
        ("b-folder", True, 0),
        ("z.GGUF", False, 5),
    ]
    assert found.parent == home.parent
    assert list_folder(Path("/")).parent is None


def test_a_folder_that_cannot_be_read_is_a_sentence(home: Path) -> None:
    assert list_folder(home / "nowhere").problem == "This folder is not there any more."
    assert list_folder(home / "z.GGUF").problem == "This is not a folder."
    assert MOST > 1000


def test_places_begin_at_home(home: Path) -> None:
    (home / "Downloads").mkdir()
    places = start_places(home, (str(home / "b-folder"),))
    assert [place.path for place in places] == [home, home / "Downloads"]
    assert places[0].free is not None
    assert not any(place.is_drive for place in places)


def test_only_the_last_question_is_answered(home: Path, qtbot: QtBot) -> None:
    crank, told = Cranked(), list[FolderList]()
    look = FolderLook(crank, home)
    look.look(home / "A-folder", told.append)
    look.look(home, told.append)
    crank.drain()
    qtbot.waitUntil(lambda: bool(told), timeout=60_000)
    assert [found.path for found in told] == [home]
    places: list[tuple[StartPlace, ...]] = []
    look.places(places.append)
    crank.drain()
    qtbot.waitUntil(lambda: bool(places), timeout=60_000)
    assert places[0][0].path == look.home == home
    look.shutdown()
