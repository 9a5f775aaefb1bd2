"""Short ways to fill a store."""

from __future__ import annotations

import itertools
import sqlite3
from contextlib import closing
from pathlib import Path

from engine.chat.records import AnswerEnd, AnswerStart, Question, Status, Thread
from engine.chat.store import Store

_numbers = itertools.count(1)


def fresh(prefix: str) -> str:
    """An id that no other call gives."""
    return f"{prefix}{next(_numbers):06}"


def turn(store: Store, conversation: str, question: str, answer: str, model: str = "Tiny") -> Thread:
    """One whole exchange."""
    start = AnswerStart(id=fresh("a"), model=model)
    store.ask(conversation, Question(id=fresh("q"), text=question), start)
    store.end(AnswerEnd(id=start.id, text=answer, status=Status.DONE, finish="stop"))
    thread = store.thread(conversation)
    assert thread is not None
    return thread


def texts(store: Store, conversation: str) -> list[str]:
    """The shown branch as texts."""
    thread = store.thread(conversation)
    assert thread is not None
    return [message.text for message in thread.messages]


def execute(path: Path, *statements: str) -> None:
    """Change the file behind the store's back, without its rules."""
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def query(path: Path, statement: str) -> list[tuple[object, ...]]:
    """Rows of the file as they lie there."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(statement).fetchall()
