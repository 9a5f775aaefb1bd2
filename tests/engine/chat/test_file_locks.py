"""Locks beside the database, between processes."""

from __future__ import annotations

import os
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


def test_an_import_waits_for_one_that_is_about_to_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as a window, which takes out what a killed import left."""
    Store.open(path).close()
    with elsewhere("importing", path) as process:

        def let_go(_seconds: float) -> None:
            process.kill()
            process.wait()

        monkeypatch.setattr("engine.chat.file_locks.time.sleep", let_go)
        with importing(path, wait=60.0) as alone:
            assert alone


def test_what_is_let_go_is_free_though_a_process_that_starts_has_the_file_open(path: Path) -> None:
    """As between its fork and its exec."""
    Store.open(path).close()
    hold = in_use(path)
    assert hold._file is not None
    copy = os.dup(hold._file.fileno())
    try:
        assert not is_replaceable(path)
        hold.release()
        assert is_replaceable(path)
    finally:
        os.close(copy)


def test_where_no_lock_can_be_made_nothing_is_held(tmp_path: Path) -> None:
    path = tmp_path / "none" / "vramble.sqlite3"
    assert isinstance(in_use(path, wait=0.0), Hold)
    assert is_replaceable(path)
