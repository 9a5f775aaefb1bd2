"""The line on the database of conversations."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from engine.chat.store import Store
from engine.doctor.checks.history import history, look_at
from engine.doctor.facts import Facts, System
from engine.doctor.records import Finding, Skipped, Status
from engine.memory.records import RamMemory
from tests.engine.chat.support import execute, turn
from tests.engine.doctor.conftest import INSTALL


def judged(database: Path) -> Finding | Skipped:
    install = msgspec.structs.replace(INSTALL, history=look_at(database))
    facts = Facts(system=System(), kernel=None, cards=(), ram=RamMemory(), install=install)
    return history(facts)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "vramble.sqlite3"
    store = Store.open(path)
    turn(store, "c", "hello", "hi")
    turn(store, "c", "again", "yes")
    store.close()
    return path


def test_no_database_is_no_problem(tmp_path: Path) -> None:
    assert isinstance(judged(tmp_path / "none.sqlite3"), Skipped)


def test_a_sound_one_is_counted(database: Path) -> None:
    found = judged(database)
    assert isinstance(found, Finding)
    assert (found.status, found.found) == (Status.OK, "1 conversations with 4 messages, checked")


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE message SET conversation = 'lost' WHERE seq = 1", "belong to nothing"),
        ("UPDATE message SET parent = id WHERE seq = 2", "have lost their place"),
        ("DROP TABLE draft", "the table draft is missing"),
    ],
)
def test_what_is_wrong_is_named(database: Path, statement: str, words: str) -> None:
    execute(database, statement)
    found = judged(database)
    assert isinstance(found, Finding)
    assert found.status is Status.FAIL
    assert words in found.found
    assert "recovers" in found.advice


@pytest.mark.parametrize("content", [b"", b"no database at all, but long enough to be one" * 100])
def test_a_file_that_is_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "vramble.sqlite3"
    path.write_bytes(content)
    found = judged(path)
    assert isinstance(found, Finding)
    assert found.status is Status.FAIL


def test_nobody_waits_any_more(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.chat.checking.OPERATIONS", 10)
    looked: list[bool] = []

    def stopped() -> bool:
        looked.append(True)
        return True

    found = look_at(database, stopped=stopped)
    assert found is not None
    assert looked
    assert found.unreadable


def test_a_large_file_is_not_read_whole_in_the_window(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.doctor.checks.history.QUICK", 10)
    found = look_at(database, patient=False)
    assert found is not None
    assert not found.pages
    assert found.trouble == ""
