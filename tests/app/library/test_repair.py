"""From a wrong byte on the disk back to a whole model: check, repair by the downloads, check."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.downloads.service import DownloadService
from app.jobs import ThreadExecutor
from app.library.service import LibraryService, Mend
from engine.library.origin import origin_path
from engine.library.states import FileState
from tests.app.library.world import World, named
from tests.engine.library.making import llama
from tests.fakes.local_hub import LocalHub
from tests.fakes.model_homes import put

PATIENCE_MS = 60_000
DATA = llama() + bytes(3 << 20)
REPO, FILE = "maker/m-GGUF", "m-Q8_0.gguf"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        server.add(REPO, FILE, DATA)
        yield server


@pytest.fixture
def downloads(world: World, hub: LocalHub) -> Iterator[DownloadService]:
    service = DownloadService(world.own, ThreadExecutor("downloads"), world.parent)
    yield service
    service.shutdown()


def spoilt(world: World, data: bytes) -> Path:
    """An installed file with other bytes than its origin says."""
    path = put(world.own / REPO / FILE, data)
    sha256 = hashlib.sha256(DATA).hexdigest()
    origin = {"repo": REPO, "path": FILE, "commit": "0" * 40, "size": len(DATA), "sha256": sha256}
    put(origin_path(path), json.dumps(origin).encode())
    return path


def mended(world: World, downloads: DownloadService, qtbot, library: LibraryService) -> bytes:
    """Repair the only model and give what is on the disk then."""
    ended: list[object] = []
    downloads.finished.connect(ended.append)
    (model,) = library.models
    assert model.mends[0] is Mend.REPAIR
    library.repair(model)
    qtbot.waitUntil(lambda: bool(ended), timeout=PATIENCE_MS)
    library.rescan()
    world.drain()
    return named(library, FILE).path.read_bytes()


def state(library: LibraryService) -> FileState:
    return library.models[0].state


def test_wrong_bytes(world: World, downloads: DownloadService, qtbot) -> None:
    data = bytearray(DATA)
    data[len(DATA) // 2] ^= 0xFF
    spoilt(world, bytes(data))
    library = world.library(repair=downloads.repair)
    assert state(library) is FileState.OK
    library.verify(library.models)
    world.drain()
    assert state(library) is FileState.DAMAGED
    assert mended(world, downloads, qtbot, library) == DATA
    library.verify(library.models)
    world.drain()
    (model,) = library.models
    assert (model.state, model.verified, model.mends) == (FileState.OK, True, ())


def test_a_cut_file(world: World, downloads: DownloadService, qtbot) -> None:
    spoilt(world, DATA[: len(llama()) - 100])
    library = world.library(repair=downloads.repair)
    assert state(library) is FileState.INCOMPLETE
    assert mended(world, downloads, qtbot, library) == DATA
    assert state(library) is FileState.OK
