"""A clock that the test moves, and stores on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.chat.store import Store


class Clock:
    """Seconds since 1970, moved by hand."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "vramble.sqlite3"


@pytest.fixture
def open_store(path: Path, clock: Clock) -> Iterator[Callable[[], Store]]:
    stores: list[Store] = []

    def opened() -> Store:
        store = Store.open(path, clock)
        stores.append(store)
        return store

    yield opened
    for store in stores:
        store.close()


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()
