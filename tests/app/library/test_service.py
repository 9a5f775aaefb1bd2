"""The library service with an executor that is turned by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.jobs import ThreadExecutor
from app.library.service import FileState, InstalledModel, LibraryService
from engine.errors import VrambleError
from tests.app.chat.cranked import Cranked
from tests.engine.library.making import llama
from tests.fakes.tiny_gguf import STR, gguf

pytestmark = pytest.mark.usefixtures("qapp")


class Watch:
    """What the service told."""

    def __init__(self, library: LibraryService) -> None:
        self.changes = 0
        self.scanning: list[bool] = []
        library.models_changed.connect(self._changed)
        library.scanning_changed.connect(self._scanned)

    def _scanned(self, scanning: bool) -> None:
        self.scanning.append(scanning)

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture
def crank() -> Cranked:
    return Cranked()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    put(tmp_path / "models/a/x/first.gguf")
    return tmp_path / "models"


@pytest.fixture
def owner(qapp: QApplication) -> Iterator[QObject]:
    """Parent of the test's services, so that they are destroyed here and by nothing else."""
    parent = QObject()
    yield parent
    shiboken6.delete(parent)


@pytest.fixture
def library(owner: QObject, folder: Path, crank: Cranked) -> Iterator[LibraryService]:
    service = LibraryService(folder, None, crank, owner)
    yield service
    service.shutdown()


def put(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data or llama())
    return path


def names(library: LibraryService) -> list[str]:
    return [model.path.name for model in library.models]


def test_the_first_scan_begins_by_itself(library: LibraryService, crank: Cranked) -> None:
    watch = Watch(library)
    assert (library.scanning, library.models) == (True, ())
    crank.drain()
    assert (library.scanning, names(library)) == (False, ["first.gguf"])
    assert (watch.changes, watch.scanning) == (1, [False])


def test_many_wishes_to_scan_are_two_scans(library: LibraryService, crank: Cranked) -> None:
    watch = Watch(library)
    for _ in range(10):
        library.rescan()
    crank.drain()
    assert watch.changes == 2
    assert watch.scanning == [False]


def test_a_new_file_shows_after_a_scan(library: LibraryService, crank: Cranked, folder: Path) -> None:
    crank.drain()
    put(folder / "b.gguf")
    put(folder / "mmproj.gguf", gguf([("general.architecture", STR, "clip")]))
    library.rescan()
    crank.drain()
    assert names(library) == ["b.gguf", "first.gguf"]
    assert [model.path.name for model in library.companions] == ["mmproj.gguf"]


def test_delete_tells_what_was_freed_and_scans(library: LibraryService, crank: Cranked) -> None:
    crank.drain()
    outcomes: list[int | VrambleError] = []
    (model,) = library.models
    library.delete(model, outcomes.append)
    crank.drain()
    assert outcomes == [model.frees_bytes]
    assert library.models == ()


def test_delete_that_fails_tells_why(library: LibraryService, crank: Cranked, folder: Path, tmp_path: Path) -> None:
    crank.drain()
    (model,) = library.models
    outside = put(tmp_path / "outside.gguf")
    outcomes: list[int | VrambleError] = []
    library.delete(
        InstalledModel(**{f: getattr(model, f) for f in model.__struct_fields__} | {"parts": (outside,)}),
        outcomes.append,
    )
    crank.drain()
    assert isinstance(outcomes[0], VrambleError)
    assert outside.exists()
    assert names(library) == ["first.gguf"]


def test_the_starter_arrives_as_a_model(folder: Path, crank: Cranked, owner: QObject, tmp_path: Path) -> None:
    source = put(tmp_path / "share/SmolLM2-135M-Instruct-Q4_1.gguf")
    library = LibraryService(folder, source, crank, owner)
    assert library.has_starter
    outcomes: list[InstalledModel | VrambleError] = []
    library.add_starter(outcomes.append)
    crank.drain()
    (model,) = outcomes
    assert isinstance(model, InstalledModel)
    assert model.can_chat
    assert model in library.models
    assert len(library.models) == 2
    library.shutdown()


def test_no_starter_is_a_sentence(library: LibraryService, crank: Cranked) -> None:
    outcomes: list[InstalledModel | VrambleError] = []
    library.add_starter(outcomes.append)
    crank.drain()
    assert not library.has_starter
    assert isinstance(outcomes[0], VrambleError)


def test_a_card_that_is_taken_out_and_put_back(library: LibraryService, crank: Cranked, folder: Path) -> None:
    crank.drain()
    before = library.models
    away = folder.rename(folder.with_name("away"))
    library.rescan()
    crank.drain()
    assert library.folder_missing
    assert [(model.path, model.state, model.can_chat) for model in library.models] == [
        (before[0].path, FileState.ABSENT, False)
    ]
    assert not folder.exists()
    away.rename(folder)
    library.rescan()
    crank.drain()
    assert library.models == before
    assert not library.folder_missing


def test_a_real_thread_scans_and_ends(folder: Path, owner: QObject, qtbot) -> None:
    library = LibraryService(folder, None, ThreadExecutor("library"), owner)
    qtbot.waitUntil(lambda: not library.scanning)
    assert names(library) == ["first.gguf"]
    library.shutdown()
    library.rescan()
    assert not library.scanning
