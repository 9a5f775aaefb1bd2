"""Imports through the window's services: another process reads and writes, all of it is there or nothing."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.chat.exchange import Exchange, Imported
from app.chat.import_child import ImportChild
from engine.chat.hidden import mark_of
from engine.chat.portable import PortableConversation, PortableMessage, PortablePart
from engine.chat.store import Store
from engine.errors import VrambleError
from tests.app.chat.conftest import Chat
from tests.engine.chat_files.samples import chatgpt

LIMIT_MS = 60_000


@pytest.fixture
def exchange(chat: Chat) -> Exchange:
    return chat.controller.keeping.exchange


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([chatgpt(f"Title {number}", f"c{number}") for number in range(50)]))
    return path


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process of an import never ends by itself."""
    sleeper = [sys.executable, "-c", "import time; time.sleep(3600)"]
    monkeypatch.setattr("app.chat.import_child.command", lambda: sleeper)


def child_of(exchange: Exchange) -> ImportChild:
    child = exchange._child
    assert child is not None
    return child


def pid_of(child: ImportChild) -> int:
    assert child.pid is not None
    return child.pid


def test_all_of_a_file(qtbot: QtBot, chat: Chat, exchange: Exchange, export: Path) -> None:
    results: list[Imported | VrambleError] = []
    assert exchange.import_files([export], results.append)
    assert exchange.importing
    assert not exchange.import_files([export], results.append)
    qtbot.waitUntil(lambda: bool(results), timeout=LIMIT_MS)
    chat.database.drain()
    assert results == [Imported(new=50)]
    assert len(chat.titles) == 50
    assert not exchange.running


def test_the_progress_is_told(qtbot: QtBot, exchange: Exchange, export: Path) -> None:
    results: list[Imported | VrambleError] = []
    seen = []
    exchange.changed.connect(lambda: seen.append(exchange.progress))
    exchange.import_files([export], results.append)
    qtbot.waitUntil(lambda: bool(results), timeout=LIMIT_MS)
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert all(progress.total in (0, 50) for progress in seen)


@pytest.mark.usefixtures("endless")
def test_a_killed_import_is_one_sentence(qtbot: QtBot, chat: Chat, exchange: Exchange, export: Path) -> None:
    results: list[Imported | VrambleError] = []
    exchange.import_files([export], results.append)
    os.kill(pid_of(child_of(exchange)), signal.SIGKILL)
    qtbot.waitUntil(lambda: bool(results), timeout=LIMIT_MS)
    (told,) = results
    assert isinstance(told, VrambleError)
    assert (told.code, "signal 9" in told.message) == ("import-died", True)
    chat.database.drain()
    assert chat.titles == []
    assert not exchange.running


@pytest.mark.usefixtures("endless")
def test_an_import_can_be_stopped(qtbot: QtBot, exchange: Exchange, export: Path) -> None:
    results: list[Imported | VrambleError] = []
    exchange.import_files([export], results.append)
    exchange.cancel()
    qtbot.waitUntil(lambda: bool(results), timeout=LIMIT_MS)
    (told,) = results
    assert isinstance(told, VrambleError)
    assert told.code == "import-stopped"
    assert not exchange.importing


@pytest.mark.usefixtures("endless")
def test_the_end_of_the_program_ends_the_import(qtbot: QtBot, exchange: Exchange, export: Path) -> None:
    results: list[Imported | VrambleError] = []
    exchange.import_files([export], results.append)
    child = child_of(exchange)
    with qtbot.waitSignal(child.ended, timeout=LIMIT_MS):
        exchange.close()
    assert results == []


def test_a_process_that_cannot_be_started_at_all(
    exchange: Exchange, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Qt says so at once where the system gives no further process."""
    why = VrambleError("import-start", "No process.")
    monkeypatch.setattr(ImportChild, "start", lambda child: child.ended.emit(why))
    results: list[Imported | VrambleError] = []
    assert exchange.import_files([export], results.append)
    assert results == [why]
    assert not exchange.running


def test_what_a_killed_import_left_goes_by_and_by(chat: Chat) -> None:
    chat.say("What is a walrus?", "A large animal")
    words = PortableMessage(id="m", parts=(PortablePart(content="unfinished"),))
    conversation = PortableConversation(id="left", title="Left", messages=(words,))
    store = Store.open(chat.path)
    store.take_all([conversation], mark_of(chat.time))
    assert [text for _, _, text in chat.on_disk()].count("unfinished") == 1
    upkeep = chat.controller.keeping.upkeep
    upkeep.start()
    for _ in range(5):
        upkeep.step()
        chat.database.drain()
    assert "unfinished" not in [text for _, _, text in chat.on_disk()]
    assert len(chat.on_disk()) == 2
    store.close()
