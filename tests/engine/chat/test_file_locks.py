"""Locks beside the database, between processes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.chat.file_locks import Hold, importing, in_use, replacing
from engine.chat.store import Store
from engine.errors import VrambleError

HOLDER = """
import sys, pathlib
from engine.chat import file_locks
with getattr(file_locks, sys.argv[1])(pathlib.Path(sys.argv[2])) as got:
    print(got, flush=True)
    sys.stdin.read()
"""


@contextmanager
def elsewhere(how: str, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process holds the lock, as long as it is not killed."""
    command = [sys.executable, "-c", HOLDER, how, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline().strip() != "False"
        try:
            yield process
        finally:
            process.kill()


def is_replaceable(path: Path) -> bool:
    with replacing(path) as alone:
        return alone


def test_an_open_store_is_not_replaced(path: Path) -> None:
    store = Store.open(path)
    other = Store.open(path)
    with Store.reader(path):
        store.close()
        other.close()
        assert not is_replaceable(path)
    assert is_replaceable(path)


def test_many_have_it_open(path: Path) -> None:
    Store.open(path).close()
    with elsewhere("using", path):
        store = Store.open(path)
        assert store.saved
        store.close()
        assert not is_replaceable(path)


def test_a_killed_process_holds_nothing(path: Path) -> None:
    Store.open(path).close()
    with elsewhere("using", path) as process:
        process.kill()
        process.wait()
        assert is_replaceable(path)


def test_an_opening_waits_for_a_replacement(path: Path) -> None:
    Store.open(path).close()
    with elsewhere("replacing", path) as process:
        with pytest.raises(VrambleError) as told:
            in_use(path, wait=0.0)
        assert told.value.code == "database-busy"
        process.kill()
        store = Store.open(path)
        assert store.saved
        store.close()


def test_one_import_at_a_time(path: Path) -> None:
    Store.open(path).close()
    with elsewhere("importing", path), importing(path) as alone:
        assert not alone
    with importing(path) as alone:
        assert alone


def test_where_no_lock_can_be_made_nothing_is_held(tmp_path: Path) -> None:
    path = tmp_path / "none" / "vramble.sqlite3"
    assert isinstance(in_use(path, wait=0.0), Hold)
    assert is_replaceable(path)
