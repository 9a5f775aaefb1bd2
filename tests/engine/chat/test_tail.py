"""The end of a conversation, read alone, is what the whole of it ends with."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.chat.records import AnswerEnd, AnswerStart, Status
from engine.chat.store import Store
from tests.engine.chat.support import execute, turn


@pytest.mark.parametrize("count", [1, 3, 8, 50])
def test_the_end_is_the_same(store: Store, count: int) -> None:
    for number in range(10):
        thread = turn(store, "c", f"question {number}", f"answer {number}")
    store.retry("c", thread.messages[-1].id, AnswerStart(id="second"))
    store.end(AnswerEnd(id="second", text="other", thinking="hm", status=Status.DONE))
    whole, end = store.thread("c"), store.tail("c", count)
    assert whole is not None
    assert end is not None
    assert end.messages == whole.messages[-count:]
    assert end.conversation == whole.conversation


def test_what_is_not_plain_is_left_to_the_whole(store: Store, path: Path) -> None:
    assert store.tail("gone", 5) is None
    thread = turn(store, "c", "question", "answer")
    first, last = thread.messages
    execute(path, f"UPDATE message SET parent = '{last.id}' WHERE id = '{first.id}'")
    assert store.tail("c", 5) is None
    whole = store.thread("c")
    assert whole is not None
    assert len(whole.messages) == 2
