"""Two processes write into one database at the same time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.store import Store

WRITE = """
import sys
from pathlib import Path
from engine.chat.records import AnswerEnd, AnswerStart, Question, Status
from engine.chat.store import Store
from engine.errors import VrambleError

def again(work):
    while True:
        try:
            return work()
        except VrambleError as error:
            if error.code != "database-busy":
                raise

name = sys.argv[2]
store = again(lambda: Store.open(Path(sys.argv[1])))
for number in range(250):
    ask = Question(id=f"{name}q{number}", text=f"walrus {name} {number}")
    again(lambda: store.ask(name, ask, AnswerStart(id=f"{name}a{number}")))
    again(lambda: store.end(AnswerEnd(id=f"{name}a{number}", text="answer", status=Status.DONE)))
store.close()
"""


@pytest.mark.slow
def test_two_processes_write_a_thousand_messages(tmp_path: Path, repository: Path) -> None:
    path = tmp_path / "vramble.sqlite3"
    Store.open(path).close()
    environ = {**os.environ, "PYTHONPATH": str(repository)}
    both = [subprocess.Popen([sys.executable, "-c", WRITE, str(path), name], env=environ) for name in ("one", "two")]
    assert [process.wait() for process in both] == [0, 0]
    store = Store.open(path)
    for name in ("one", "two"):
        thread = store.thread(name)
        assert thread is not None
        assert len(thread.messages) == 500
        assert not any(message.problem for message in thread.messages)
    assert len(store.search('"walrus one 249"').hits) == 1
    store.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.execute("INSERT INTO text_index (text_index) VALUES ('integrity-check')")
