"""Rows that should not be there: shown as far as possible, kept as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.chat.records import Role, Status
from engine.chat.store import Store
from tests.engine.chat.support import execute, query, texts, turn

OFF = "PRAGMA foreign_keys = OFF"
LOOSE = "PRAGMA ignore_check_constraints = ON"


@pytest.fixture
def twenty(store: Store) -> list[str]:
    """Ids of a conversation of 20 messages."""
    for number in range(10):
        thread = turn(store, "c", f"question {number}", f"answer {number}")
    return [message.id for message in thread.messages]


def without_not_null(path: Path, table: str, column: str) -> None:
    """Take a NOT NULL away, as an older or foreign program might have written the table."""
    sql = str(query(path, f"SELECT sql FROM sqlite_master WHERE name = '{table}'")[0][0])
    lines = [
        line.replace(" NOT NULL", "") if line.strip().startswith(column + " ") else line for line in sql.split("\n")
    ]
    changed = "\n".join(lines).replace("'", "''")
    execute(
        path,
        "PRAGMA writable_schema = ON",
        f"UPDATE sqlite_master SET sql = '{changed}' WHERE name = '{table}'",
    )


BAD = {
    "figures NULL": ("UPDATE message SET stats = NULL WHERE id = '{id}'", False),
    "figures not JSON": ("UPDATE message SET stats = 'not json' WHERE id = '{id}'", True),
    "figures of another kind": ("UPDATE message SET stats = '[1, 2]' WHERE id = '{id}'", True),
    "figures with text for a number": ("UPDATE message SET stats = '{{\"ttft_ms\": \"x\"}}' WHERE id = '{id}'", True),
    "settings not JSON": ("UPDATE message SET settings = '{{' WHERE id = '{id}'", True),
    "text missing": ("DELETE FROM part WHERE message = '{id}'", True),
    "parent unknown": ("UPDATE message SET parent = 'nobody' WHERE id = '{id}'", True),
    "parent itself": ("UPDATE message SET parent = id WHERE id = '{id}'", True),
    "parent later: a loop": ("UPDATE message SET parent = '{later}' WHERE id = '{id}'", True),
    "state unknown": ("UPDATE message SET status = 'archived' WHERE id = '{id}'", True),
    "state a number": ("UPDATE message SET status = 3 WHERE id = '{id}'", True),
    "time a text": ("UPDATE message SET created = 'yesterday' WHERE id = '{id}'", False),
}


@pytest.mark.parametrize("name", BAD)
def test_one_bad_row_marks_one_message(store: Store, path: Path, twenty: list[str], name: str) -> None:
    """Case 98."""
    statement, marked = BAD[name]
    before = store.thread("c")
    execute(path, OFF, statement.format(id=twenty[9], later=twenty[14]))
    after = store.thread("c")
    assert before is not None
    assert after is not None
    assert [m.id for m in after.messages] == twenty
    assert [m for m in after.messages if m.id != twenty[9]] == [m for m in before.messages if m.id != twenty[9]]
    assert bool(after.messages[9].problem) == marked
    assert turn(store, "c", "goes on", "yes").messages[-1].text == "yes"


@pytest.mark.parametrize("value", ["NULL", "x'61ff62'"])
def test_text_that_is_null_or_bytes(store: Store, path: Path, twenty: list[str], value: str) -> None:
    store.close()
    without_not_null(path, "part", "content")
    execute(path, f"UPDATE part SET content = {value} WHERE message = '{twenty[9]}'")
    reopened = Store.open(path)
    shown = texts(reopened, "c")
    reopened.close()
    assert len(shown) == 20
    assert shown[9] == {"NULL": "", "x'61ff62'": "a\ufffdb"}[value]


def test_a_missing_tip_shows_the_newest_branch(store: Store, path: Path, twenty: list[str]) -> None:
    execute(path, OFF, "UPDATE conversation SET tip = 'nobody'")
    assert len(texts(store, "c")) == 20
    execute(path, OFF, "UPDATE conversation SET tip = NULL")
    assert len(texts(store, "c")) == 20


def test_unknown_names_are_shown_and_kept(store: Store, open_store: Callable[[], Store], path: Path) -> None:
    """Case 97."""
    thread = turn(store, "c", "q", "a")
    user, answer = (message.id for message in thread.messages)
    execute(
        path,
        f"UPDATE message SET role = 'tool' WHERE id = '{user}'",
        f"UPDATE message SET role = 'Assistant', finish = 'content_filter', status = 'paused' WHERE id = '{answer}'",
        f"UPDATE part SET kind = 'hologram' WHERE message = '{answer}'",
    )
    before = query(path, "SELECT * FROM message ORDER BY seq"), query(path, "SELECT * FROM part ORDER BY id")
    store.close()
    again = open_store()
    read = again.thread("c")
    assert read is not None
    assert [(m.role, m.role_name) for m in read.messages] == [(Role.OTHER, "tool"), (Role.OTHER, "Assistant")]
    assert (read.messages[1].finish, read.messages[1].status) == ("content_filter", Status.DONE)
    assert "paused" in read.messages[1].problem
    assert [part.kind for part in read.messages[1].parts] == ["hologram"]
    turn(again, "c", "next", "fine")
    after = query(path, "SELECT * FROM message ORDER BY seq"), query(path, "SELECT * FROM part ORDER BY id")
    assert (after[0][:2], after[1][:2]) == before


def test_a_role_that_is_a_number(store: Store, path: Path) -> None:
    thread = turn(store, "c", "q", "a")
    execute(path, f"UPDATE message SET role = 7 WHERE id = '{thread.messages[0].id}'")
    read = store.thread("c")
    assert read is not None
    assert (read.messages[0].role, read.messages[0].role_name) == (Role.OTHER, "7")


def test_bytes_that_are_not_utf8(store: Store, path: Path) -> None:
    """Case 106."""
    turn(store, "c", "q", "a")
    turn(store, "d", "other", "b")
    bad = "CAST(x'61ff62' AS TEXT)"
    execute(
        path, f"UPDATE conversation SET title = {bad} WHERE id = 'c'", f"UPDATE part SET content = {bad} WHERE id = 2"
    )
    assert {c.title for c in store.conversations()} == {"a\ufffdb", "other"}
    assert texts(store, "c") == ["q", "a\ufffdb"]
    assert turn(store, "c", "goes on", "yes").messages[-1].text == "yes"


@pytest.mark.parametrize("value", ["'yesterday'", "0", "x'00'", "-1", "9e999"])
def test_times_that_are_none(store: Store, path: Path, value: str) -> None:
    turn(store, "c", "q", "a")
    turn(store, "d", "newer", "b")
    execute(path, f"UPDATE conversation SET updated = {value}, created = {value} WHERE id = 'c'")
    assert [c.id for c in store.conversations()] == ["d", "c"]


@pytest.mark.parametrize(
    "change",
    [
        "title = x'61ff62'", "title = x'6162'", "title = NULL", "updated = 'yesterday'", "updated = 9e999",
        "pinned = 'x'", "archived = 3", "settings = x'00'", "folder = 7", "tip = NULL", "place = -9e999",
        "titled = CAST(x'ff' AS TEXT)",
    ],
)  # fmt: skip
def test_the_list_reads_a_conversation_as_it_is_read_alone(store: Store, path: Path, change: str) -> None:
    turn(store, "c", "question", "answer")
    turn(store, "d", "question", "answer")
    execute(path, OFF, f"UPDATE conversation SET {change} WHERE id = 'c'")
    listed = {one.id: one for one in store.conversations()}
    assert listed == {"c": store.conversation("c"), "d": store.conversation("d")}
