"""The connection to the database: transactions, and SQLite's errors in words."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.chat import failures
from engine.chat.database import request_check


class Link:
    """What every part of the store works with."""

    def __init__(self, db: sqlite3.Connection, path: Path, now: Callable[[], float]) -> None:
        self._db, self._path, self._now = db, path, now

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._translated():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            if failures.is_damage(error):
                request_check(self._path)
            told = failures.in_words(error, self._path)
            if told is None:
                raise
            raise told from error

    def _empty_log(self) -> None:
        with self._translated():
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
