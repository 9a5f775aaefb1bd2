"""A local Hub and the real download child."""

from __future__ import annotations

import hashlib
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.downloads.client import events
from engine.downloads.main import answer
from engine.downloads.messages import Event, Failed, Fetch, Fetched, Limits, Note
from engine.downloads.partial import PartRecord, part_path, write_record
from engine.library.listing import FilePart
from tests.fakes.local_hub import LocalHub

QUICK = Limits(connect_s=5, stall_s=2, retries=3, first_wait_s=0.02, longest_wait_s=0.05, report_s=0.01, reserve=1)
REPO = "maker/small-GGUF"
FILE = "small-Q4_0.gguf"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


def content(size: int = 300_000, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def fetch_request(models: Path, file: str = FILE, repo: str = REPO, limits: Limits = QUICK, **more: object) -> Fetch:
    request = Fetch(models=os.fsencode(models), repo=repo, files=(FilePart(path=file),), limits=limits)
    return msgspec.structs.replace(request, **more)


def run(request: Fetch) -> list[Event]:
    """All events of the real child."""
    return list(events(request))


def run_here(request: Fetch) -> list[Event]:
    """All events, without a process of its own: for cases that do not depend on there being one."""
    found: list[Event] = []
    found.append(answer(request, found.append))
    return found


Run = Callable[[Fetch], list[Event]]


def finish(request: Fetch, run: Run = run) -> Fetched:
    last = run(request)[-1]
    assert isinstance(last, Fetched), last
    return last


def fail(request: Fetch, run: Run = run) -> Failed:
    last = run(request)[-1]
    assert isinstance(last, Failed), last
    return last


def notes(found: list[Event]) -> list[str]:
    return [event.text for event in found if isinstance(event, Note)]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def folder(models: Path) -> Path:
    return models / REPO


def leave_part(models: Path, file: str, data: bytes, *, etag: str, size: int, served: str | None = None) -> Path:
    """A partial file as an interrupted download leaves it."""
    target = folder(models) / file
    target.parent.mkdir(parents=True, exist_ok=True)
    part_path(target).write_bytes(data)
    record = PartRecord(repo=REPO, path=file, size=size, etag=etag, sha256=etag, served_etag=served)
    write_record(target, record)
    return target
