"""The check for newer files with the real Hub child and a local Hub."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.hub.service import HubService
from app.jobs import ThreadExecutor
from engine.library.origin import origin_path
from tests.app.library.world import World
from tests.engine.library.making import llama
from tests.fakes.local_hub import LocalHub
from tests.fakes.model_homes import hub_file, put

PATIENCE_MS = 60_000
OLD, NEW = llama(name="old"), llama(name="new")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


@pytest.fixture
def service(world: World, hub: LocalHub) -> Iterator[HubService]:
    made = HubService(
        world.folder / "kept", ThreadExecutor("hub"), lambda: dict(os.environ), lambda: False, lambda: (), world.parent
    )
    yield made
    made.shutdown()


def installed(path: Path, data: bytes, repo: str) -> Path:
    origin = {"repo": repo, "path": path.name, "commit": "old", "sha256": hashlib.sha256(data).hexdigest()}
    put(origin_path(put(path, data)), json.dumps(origin).encode())
    return path


def test_newer_bytes_are_found(world: World, hub: LocalHub, service: HubService, qtbot) -> None:
    hub.add("a/x", "m-Q8_0.gguf", NEW)
    hub.add("b/y", "n-Q8_0.gguf", OLD)
    changed = installed(world.own / "a/x/m-Q8_0.gguf", OLD, "a/x")
    installed(world.own / "b/y/n-Q8_0.gguf", OLD, "b/y")
    installed(world.own / "c/gone/o-Q8_0.gguf", OLD, "c/gone")
    cached = hub_file(world.around.home / ".cache/huggingface/hub", "a/x", "c" * 40, "m-Q8_0.gguf", OLD)
    library = world.library()
    library.ask_through(service.look_up)
    library.check_updates()
    qtbot.waitUntil(lambda: not library.checking_updates, timeout=PATIENCE_MS)
    assert library.update_problem is None
    assert set(library.updates) == {changed, cached}
    assert {(update.file, update.n_bytes) for update in library.updates.values()} == {("m-Q8_0.gguf", len(NEW))}
