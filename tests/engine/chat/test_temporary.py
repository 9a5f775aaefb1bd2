"""Temporary conversations: everything works, nothing is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.chat.records import AnswerEnd, AnswerStart, Draft, Question, Status
from engine.chat.temporary import StoreWithTemporary, is_temporary, new_conversation_id
from tests.engine.chat.conftest import Clock
from tests.engine.chat.support import texts, turn
from tests.engine.chat.test_search import contents

ID = new_conversation_id(1.0, temporary=True)


@pytest.fixture
def store(path: Path, clock: Clock) -> Iterator[StoreWithTemporary]:
    found = StoreWithTemporary.open(path, clock)
    assert isinstance(found, StoreWithTemporary)
    yield found
    found.close()


def test_ids_say_it() -> None:
    assert is_temporary(ID)
    assert not is_temporary(new_conversation_id(1.0, temporary=False))
    assert not is_temporary(None)


def test_everything_works_and_nothing_is_written(store: StoreWithTemporary, path: Path) -> None:
    turn(store, "kept", "hello", "there")
    thread = turn(store, ID, "quetzalsecret", "vexilloid answer")
    store.edit(ID, thread.messages[0].id, Question(id="e", text="quetzal again"), AnswerStart(id="ea"))
    store.save_text("ea", "vexilloid half")
    store.end(AnswerEnd(id="ea", text="vexilloid whole", status=Status.DONE))
    store.rename(ID, "quetzaltitle")
    store.save_drafts({ID: Draft(text="quetzaldraft")})
    assert texts(store, ID) == ["quetzal again", "vexilloid whole"]
    assert [(one.id, one.temporary) for one in store.conversations()] == [(ID, True), ("kept", False)]
    copied = store.branch(ID, "ea", "copy", "quetzalcopy")
    assert copied is not None
    assert copied.temporary
    assert is_temporary(copied.id)
    assert store.search("quetzal").hits == ()
    assert b"quetzal" not in contents(path)
    assert b"vexilloid" not in contents(path)


def test_they_can_be_deleted_and_brought_back(store: StoreWithTemporary) -> None:
    turn(store, ID, "hello", "there")
    assert store.delete(ID)
    assert store.conversations() == []
    back = store.undelete(ID)
    assert back is not None
    store.delete(ID)
    assert store.purge([ID, "nobody"]) == 1
    assert store.conversation(ID) is None


def test_they_end_with_the_program(store: StoreWithTemporary, path: Path, clock: Clock) -> None:
    turn(store, ID, "hello", "there")
    second = StoreWithTemporary.open(path, clock)
    assert second.thread(ID) is None
    second.close()
