"""Edited questions, answers that go on, copies, messages deleted with a way back; the schema behind them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.database import open_database
from engine.chat.migrations import MIGRATIONS
from engine.chat.records import AnswerEnd, AnswerStart, Question, RunSettings, Status
from engine.chat.store import UNDO_SECONDS, Store
from engine.errors import VrambleError
from engine.protocol.types import Thinking
from tests.engine.chat.conftest import Clock
from tests.engine.chat.support import fresh, query, texts, turn

HERE = Path(__file__).parent
SCHEMAS = [(HERE / f"schema_v{number}.sql").read_text(encoding="utf-8") for number in (1, 2, 3, 4)]
LAYOUT = (
    "SELECT m.name, t.name, t.type, t.[notnull], t.pk FROM sqlite_master m, pragma_table_info(m.name) t ORDER BY 1, 2"
)


def made(path: Path, schemas: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        for schema in schemas:
            db.executescript(schema)
    return path


def ids(store: Store) -> list[str]:
    thread = store.thread("c")
    assert thread is not None
    return [message.id for message in thread.messages]


@pytest.fixture
def talk(store: Store) -> Store:
    """Two turns in ``c``."""
    turn(store, "c", "one", "first")
    turn(store, "c", "two", "second")
    return store


def test_the_third_migration_is_the_released_schema(path: Path, tmp_path: Path, clock: Clock) -> None:
    made(path, SCHEMAS[:1])
    open_database(path, clock(), MIGRATIONS[:3]).db.close()
    assert query(path, LAYOUT) == query(made(tmp_path / "released.sqlite3", SCHEMAS[:3]), LAYOUT)


def test_the_fourth_migration_is_the_released_schema(path: Path, tmp_path: Path, clock: Clock) -> None:
    made(path, SCHEMAS[:1])
    open_database(path, clock(), MIGRATIONS[:4]).db.close()
    assert query(path, LAYOUT) == query(made(tmp_path / "released.sqlite3", SCHEMAS), LAYOUT)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_earlier_conversations_can_be_searched(path: Path, clock: Clock, version: int) -> None:
    made(path, SCHEMAS[:version])
    store = Store.open(path, clock)
    assert store.unindexed() > 0
    while store.build_index():
        pass
    assert [hit.conversation for hit in store.search("gtt").hits if hit.message] == ["c1"]
    assert store.folders() == []
    store.close()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_earlier_version_is_taken_over_with_a_backup(path: Path, clock: Clock, version: int) -> None:
    made(path, SCHEMAS[:version])
    store = Store.open(path, clock)
    turn(store, "new", "Hi", "Hello")
    assert texts(store, "c1") == ["What does GTT mean?", "Graphics tr"]
    store.close()
    (backup,) = path.parent.glob(f"*.backup-v{version}-*")
    assert query(backup, "PRAGMA user_version") == [(version,)]
    assert query(backup, "SELECT count(*) FROM conversation WHERE id = 'new'") == [(0,)]


def test_an_edited_question_is_another_version(talk: Store) -> None:
    first, *_, second, _ = ids(talk)
    thread = talk.edit("c", second, Question(id="q", text="two, better"), AnswerStart(id="a", model="Tiny"))
    assert [(m.text, m.version, m.versions) for m in thread.messages] == [
        ("one", 1, 1),
        ("first", 1, 1),
        ("two, better", 2, 2),
        ("", 1, 1),
    ]
    assert [m.text for m in talk.show_version("c", "q", -1).messages] == ["one", "first", "two", "second"]
    thread = talk.edit("c", first, Question(id="r", text="uno"), AnswerStart(id="b"))
    assert [(m.text, m.version, m.versions) for m in thread.messages] == [("uno", 2, 2), ("", 1, 1)]
    assert [m.text for m in talk.show_version("c", "r", -1).messages] == ["one", "first", "two, better", ""]


def test_editing_leaves_title_and_draft_alone(talk: Store) -> None:
    talk.edit("c", ids(talk)[0], Question(id="q", text="another"), AnswerStart(id="a"))
    assert [one.title for one in talk.conversations()] == ["one"]


@pytest.mark.parametrize("call", ["edit", "resume", "branch", "delete_from"])
def test_a_message_that_is_gone(talk: Store, call: str) -> None:
    more: dict[str, tuple[object, ...]] = {
        "edit": (Question(id="q", text="x"), AnswerStart(id="a")),
        "branch": ("other", "title"),
    }
    with pytest.raises(VrambleError) as caught:
        getattr(talk, call)("c", "nothing", *more.get(call, ()))
    assert caught.value.code == "message-gone"
    assert texts(talk, "c") == ["one", "first", "two", "second"]
    assert [one.id for one in talk.conversations()] == ["c"]


def test_an_answer_goes_on(talk: Store) -> None:
    answer = ids(talk)[1]
    thread = talk.resume("c", answer)
    assert [(m.text, m.status) for m in thread.messages] == [("one", Status.DONE), ("first", Status.STREAMING)]
    talk.end(AnswerEnd(id=answer, text="first and more", status=Status.DONE))
    assert texts(talk, "c") == ["one", "first and more"]


def test_a_branch_is_a_copy_up_to_a_message(talk: Store) -> None:
    question, answer, *_ = ids(talk)
    talk.set_settings("c", '{"top_k": 3}')
    end = AnswerEnd(id=answer, text="first", status=Status.DONE, thinking="Hm", thought_s=2.5, settings=RunSettings())
    talk.end(end)
    made = talk.branch("c", answer, "copy", "one (2)")
    assert made is not None
    assert (made.title, made.settings) == ("one (2)", '{"top_k": 3}')
    thread = talk.thread("copy")
    assert thread is not None
    assert [(m.text, m.thinking, m.thought_s, m.problem) for m in thread.messages] == [
        ("one", "", None, ""),
        ("first", "Hm", 2.5, ""),
    ]
    assert {m.id for m in thread.messages}.isdisjoint({question, answer})
    turn(talk, "copy", "three", "third")
    assert texts(talk, "c") == ["one", "first", "two", "second"]


def test_a_copy_of_an_answer_that_runs_is_a_stopped_one(talk: Store) -> None:
    talk.resume("c", ids(talk)[1])
    talk.branch("c", ids(talk)[1], "copy", "x")
    thread = talk.thread("copy")
    assert thread is not None
    assert thread.messages[1].status is Status.STOPPED


def test_deleting_from_a_message_on_and_back(talk: Store) -> None:
    before = ids(talk)
    thread = talk.delete_from("c", before[2])
    assert [m.text for m in thread.messages] == ["one", "first"]
    back = talk.undelete_from("c", before[2], before[-1])
    assert back is not None
    assert [m.id for m in back.messages] == before


def test_another_version_takes_the_place(talk: Store) -> None:
    answer = ids(talk)[-1]
    talk.retry("c", answer, AnswerStart(id="again"))
    talk.end(AnswerEnd(id="again", text="other", status=Status.DONE))
    assert [m.id for m in talk.delete_from("c", "again").messages][-1] == answer
    assert talk.delete_from("c", answer).messages[-1].text == "two"
    back = talk.undelete_from("c", answer, answer)
    assert back is not None
    assert (back.messages[-1].id, back.messages[-1].versions) == (answer, 1)


def test_everything_may_be_deleted(talk: Store) -> None:
    assert talk.delete_from("c", ids(talk)[0]).messages == ()
    turn(talk, "c", "new start", "yes")
    assert texts(talk, "c") == ["new start", "yes"]


def test_all_branches_below_go(talk: Store, path: Path) -> None:
    question = ids(talk)[2]
    talk.edit("c", question, Question(id="q2", text="b"), AnswerStart(id="a2"))
    first = ids(talk)[0]
    talk.delete_from("c", first)
    assert query(path, "SELECT count(*) FROM message WHERE deleted IS NULL") == [(0,)]


def test_purged_messages_are_gone_from_the_file(talk: Store, path: Path, clock: Clock) -> None:
    turn(talk, "c", "a secret word: xyzzyplugh", "understood")
    before = ids(talk)
    talk.delete_from("c", before[4])
    clock.advance(1)
    assert talk.purge_messages() == 2
    assert talk.purge_messages() == 0
    again = talk.undelete_from("c", before[4], before[-1])
    assert again is not None
    assert [m.text for m in again.messages] == ["one", "first", "two", "second"]
    talk.close()
    assert b"xyzzyplugh" not in path.read_bytes()


def test_the_next_start_purges_what_is_old(
    talk: Store, open_store: Callable[[], Store], path: Path, clock: Clock
) -> None:
    talk.delete_from("c", ids(talk)[2])
    talk.close()
    clock.advance(UNDO_SECONDS - 1)
    open_store().close()
    assert query(path, "SELECT count(*) FROM message") == [(4,)]
    clock.advance(2)
    open_store().close()
    assert query(path, "SELECT count(*) FROM message") == [(2,)]


def test_settings_belong_to_a_conversation(store: Store) -> None:
    start = AnswerStart(id=fresh("a"))
    thread = store.ask("c", Question(id=fresh("q"), text="Hi"), start, '{"temperature": 0.1}')
    assert thread.conversation.settings == '{"temperature": 0.1}'
    store.ask("c", Question(id=fresh("q"), text="Hi"), AnswerStart(id=fresh("a")), '{"temperature": 0.9}')
    assert [one.settings for one in store.conversations()] == ['{"temperature": 0.1}']
    changed = store.set_settings("c", None)
    assert changed is not None
    assert changed.settings is None
    assert store.set_settings("gone", "{}") is None


def test_what_an_answer_was_made_with(store: Store) -> None:
    settings = RunSettings(system_prompt="Be short.", thinking=Thinking(enabled=False), prefill="Yes")
    turn(store, "c", "Hi", "Hello")
    answer = ids(store)[1]
    store.end(AnswerEnd(id=answer, text="Hello", status=Status.DONE, settings=settings))
    thread = store.thread("c")
    assert thread is not None
    assert thread.messages[1].settings == settings
