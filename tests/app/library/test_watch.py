"""Changes on the disk come by themselves, once they have settled."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.jobs import SerialRunner
from app.library.watch import LATEST_MS, QUIET_MS, LibraryWatch
from tests.app.chat.cranked import Cranked
from tests.app.library.world import World
from tests.engine.library.making import llama
from tests.fakes.model_homes import put

PATIENCE_MS = 60_000


@pytest.fixture
def watch(qapp: QApplication, tmp_path: Path) -> Iterator[LibraryWatch]:
    parent = QObject()
    crank = Cranked()
    watch = LibraryWatch(SerialRunner(crank, parent), parent)
    watch.follow([tmp_path])
    crank.drain()
    yield watch
    watch.close()
    shiboken6.delete(parent)


def test_many_changes_are_told_once(watch: LibraryWatch, tmp_path: Path, qtbot) -> None:
    told: list[bool] = []
    watch.changed.connect(lambda: told.append(True))
    for number in range(50):
        put(tmp_path / f"{number}.gguf", b"x")
    qtbot.waitUntil(lambda: bool(told), timeout=PATIENCE_MS)
    assert told == [True]


def test_what_never_settles_is_told_all_the_same() -> None:
    assert QUIET_MS < LATEST_MS


def test_a_new_model_shows_by_itself(world: World, qtbot) -> None:
    put(world.own / "one.gguf", llama())
    library = world.library(watch=True)
    put(world.own / "two.gguf", llama(name="two"))

    def there() -> bool:
        world.drain()
        return len(library.models) == 2

    qtbot.waitUntil(there, timeout=PATIENCE_MS)
    put(world.own / "new folder/three.gguf", llama(name="three"))

    def there_too() -> bool:
        world.drain()
        return len(library.models) == 3

    qtbot.waitUntil(there_too, timeout=PATIENCE_MS)


def test_closed_it_tells_nothing(watch: LibraryWatch, tmp_path: Path) -> None:
    watch.close()
    watch.close()
    put(tmp_path / "m.gguf", b"x")
