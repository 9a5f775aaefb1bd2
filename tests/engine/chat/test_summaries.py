"""A summary belongs to the message behind what it stands for."""

from __future__ import annotations

from pathlib import Path

from engine.chat.records import AnswerStart, Message, Question
from engine.chat.store import Store
from tests.engine.chat.support import fresh, query, texts, turn

WORDS = "Zebras were spoken of."


def filled(store: Store) -> list[Message]:
    for number in range(3):
        turn(store, "c", f"question {number}", f"answer {number}")
    assert store.keep_summary("c", messages(store)[4].id, WORDS)
    return messages(store)


def messages(store: Store, conversation: str = "c") -> list[Message]:
    thread = store.thread(conversation)
    assert thread is not None
    return list(thread.messages)


def summaries(store: Store, conversation: str = "c") -> list[str]:
    return [message.summary for message in messages(store, conversation)]


def test_it_is_kept_and_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "chat.sqlite3"
    store = Store.open(path)
    filled(store)
    store.close()
    store = Store.open(path)
    assert summaries(store) == ["", "", "", "", WORDS, ""]
    assert texts(store, "c")[4] == "question 2"
    assert store.search("zebras").hits == ()
    store.keep_summary("c", messages(store)[4].id, "Another.")
    assert summaries(store)[4] == "Another."
    store.close()


def test_it_goes_with_its_branch(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "chat.sqlite3")
    kept = filled(store)
    store.branch("c", kept[5].id, "d", "Copy")
    assert summaries(store, "d") == ["", "", "", "", WORDS, ""]
    store.edit("c", kept[2].id, Question(id=fresh("q"), text="other"), AnswerStart(id=fresh("a")))
    assert summaries(store) == ["", "", "", ""]
    assert not store.keep_summary("d", kept[4].id, "x")
    assert not store.keep_summary("c", "nothing", "x")
    store.close()


def test_it_goes_through_an_export_and_is_deleted_with_the_conversation(tmp_path: Path) -> None:
    path = tmp_path / "chat.sqlite3"
    store, other = Store.open(path), Store.open(tmp_path / "other.sqlite3")
    filled(store)
    whole = store.whole("c")
    assert whole is not None
    other.take(whole)
    assert [summaries(other, one.id) for one in other.conversations()] == [["", "", "", "", WORDS, ""]]
    store.delete("c")
    store.purge(["c"])
    store.close()
    other.close()
    assert query(path, "SELECT count(*) FROM part") == [(0,)]
    assert WORDS.encode() not in path.read_bytes()
