"""A local Hub, and what the hub child does without being a process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.hub.finder import Finder
from engine.hub.hub_client import HubClient, Limits
from engine.hub.kept import Kept
from engine.hub.messages import Event, Failed, Found, Open, Opened, Search
from engine.hub.records import SearchQuery
from tests.fakes.local_hub import LocalHub

PATIENT = Limits(connect_s=30, stall_s=60, whole_s=120, retry_s=0.01)
"""For answers that come: nothing here depends on how fast."""


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


class Desk:
    """Answers requests one after the other; time stands still unless it is moved."""

    def __init__(self, folder: Path, limits: Limits = PATIENT) -> None:
        self.folder, self.limits, self.now = folder, limits, 1_800_000_000.0

    def answer(self, request: Search | Open) -> Event:
        async def run() -> Event:
            client = HubClient(self.limits)
            finder = Finder(client, Kept(self.folder, client.endpoint), lambda: self.now)
            try:
                return await finder.answer(request)
            finally:
                await client.close()

        return asyncio.run(run())

    def search(
        self, query: SearchQuery | None = None, cursor: str = "", *, fresh: bool = False, offline: bool = False
    ) -> Found:
        request = Search(id=1, query=query or SearchQuery(), cursor=cursor, fresh=fresh, offline=offline)
        event = self.answer(request)
        assert isinstance(event, Found), event
        return event

    def open(self, text: str, *, fresh: bool = False, offline: bool = False) -> Opened:
        event = self.answer(Open(id=1, text=text, fresh=fresh, offline=offline))
        assert isinstance(event, Opened), event
        return event

    def refusal(self, request: Search | Open) -> Failed:
        event = self.answer(request)
        assert isinstance(event, Failed), event
        return event


@pytest.fixture
def desk(hub: LocalHub, tmp_path: Path) -> Desk:
    return Desk(tmp_path / "kept")
