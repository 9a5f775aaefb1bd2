"""kill -9 of a process that streams into the store: what it reported as saved is there."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.records import Status
from engine.chat.store import Store

STREAM = """
import sys
from pathlib import Path
from engine.chat.records import AnswerStart, Question
from engine.chat.store import Store
store = Store.open(Path(sys.argv[1]))
store.ask("c", Question(id="q", text="Count"), AnswerStart(id="a", model="Tiny"))
print(0, flush=True)
text, number = "", 0
while True:
    number += 1
    text += f"{number} "
    store.save_text("a", text)
    print(number, flush=True)
"""


def numbers(count: int) -> str:
    return "".join(f"{number} " for number in range(1, count + 1))


@pytest.mark.parametrize("saves", [0, 1, 7, 60])
def test_at_most_the_save_in_flight_is_lost(tmp_path: Path, repository: Path, saves: int) -> None:
    path = tmp_path / "vramble.sqlite3"
    env = {**os.environ, "PYTHONPATH": str(repository)}
    child = subprocess.Popen([sys.executable, "-c", STREAM, str(path)], stdout=subprocess.PIPE, env=env)
    assert child.stdout is not None
    for _ in range(saves + 1):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    reported = saves + len(child.stdout.read().splitlines())
    child.wait()
    child.stdout.close()
    store = Store.open(path)
    thread = store.thread("c")
    assert thread is not None
    question, answer = thread.messages
    assert (question.text, question.status) == ("Count", Status.DONE)
    assert answer.status is Status.STOPPED
    assert answer.text in (numbers(reported), numbers(reported + 1))
    assert store.remarks == ()
    store.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
