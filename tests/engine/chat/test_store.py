"""The store in ordinary life: turns, versions, titles, deletion, two windows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.records import UNTITLED, AnswerEnd, AnswerStart, Part, Question, Role, RunSettings, Status
from engine.chat.store import UNDO_SECONDS, Store
from engine.chat.text import clean
from engine.errors import VrambleError
from engine.protocol.types import GenerationStats, Sampling
from tests.engine.chat.conftest import Clock
from tests.engine.chat.support import execute, fresh, query, texts, turn


def test_a_turn_is_kept_whole(store: Store, open_store: Callable[[], Store], clock: Clock) -> None:
    settings = RunSettings(sampling=Sampling(temperature=0.2, seed=7), max_tokens=99, n_ctx=2048)
    stats = GenerationStats(prompt_tokens=5, generated_tokens=2, ttft_ms=10.5, decode_tps=40.25)
    began = store.ask("c", Question(id="q", text="Hi there"), AnswerStart(id="a", model="Tiny", settings=settings))
    assert [(m.id, m.parent, m.role, m.status) for m in began.messages] == [
        ("q", None, Role.USER, Status.DONE),
        ("a", "q", Role.ASSISTANT, Status.STREAMING),
    ]
    clock.advance(3)
    assert store.save_text("a", "Hel")
    assert store.end(AnswerEnd(id="a", text="Hello", status=Status.DONE, stats=stats, finish="stop"))
    store.close()
    thread = open_store().thread("c")
    assert thread is not None
    assert thread.conversation.title == "Hi there"
    assert thread.conversation.updated == clock.now
    answer = thread.messages[1]
    assert (answer.text, answer.status, answer.model, answer.finish) == ("Hello", Status.DONE, "Tiny", "stop")
    assert (answer.settings, answer.stats, answer.problem) == (settings, stats, "")


def test_a_thought_is_a_part_of_its_own(store: Store, open_store: Callable[[], Store]) -> None:
    store.ask("c", Question(id="q", text="Why?"), AnswerStart(id="a"))
    assert store.save_text("a", "", "Hm")
    assert store.save_text("a", "Be", "Hm, so.")
    assert store.end(AnswerEnd(id="a", text="Because.", status=Status.DONE, thinking="Hm, so."))
    store.close()
    thread = open_store().thread("c")
    assert thread is not None
    answer = thread.messages[1]
    assert (answer.text, answer.thinking) == ("Because.", "Hm, so.")
    assert answer.parts == (Part("thinking", "Hm, so."), Part("text", "Because."))
    assert thread.messages[0].thinking == ""


def test_a_question_is_on_disk_when_the_call_returns(store: Store, path: Path) -> None:
    store.ask("c", Question(id="q", text="kept"), AnswerStart(id="a"))
    assert query(path, "SELECT content FROM part WHERE message = 'q'") == [("kept",)]


def test_versions_share_a_parent_and_keep_their_branches(store: Store) -> None:
    turn(store, "c", "one", "first")
    begin = store.ask("c", Question(id="q2", text="two"), AnswerStart(id="a2"))
    store.end(AnswerEnd(id="a2", text="second", status=Status.DONE))
    first = begin.messages[1].id
    again = store.retry("c", first, AnswerStart(id="b1", model="Other"))
    assert [(m.id, m.version, m.versions) for m in again.messages][-1] == ("b1", 2, 2)
    store.end(AnswerEnd(id="b1", text="first again", status=Status.DONE))
    assert texts(store, "c") == ["one", "first again"]
    back = store.show_version("c", "b1", -1)
    assert [m.text for m in back.messages] == ["one", "first", "two", "second"]
    assert [m.text for m in store.show_version("c", first, +1).messages] == ["one", "first again"]
    assert [m.text for m in store.show_version("c", "b1", +5).messages] == ["one", "first again"]


def test_retry_of_a_question_answers_it(store: Store) -> None:
    turn(store, "c", "one", "first")
    question = store.thread("c").messages[0].id  # type: ignore[union-attr]
    thread = store.retry("c", question, AnswerStart(id="b"))
    assert [m.id for m in thread.messages] == [question, "b"]
    assert thread.messages[-1].versions == 2


def test_a_message_that_is_gone_is_an_error_and_changes_nothing(store: Store) -> None:
    turn(store, "c", "one", "first")
    with pytest.raises(VrambleError, match="no longer there") as failure:
        store.retry("c", "nobody", AnswerStart(id="b"))
    assert failure.value.code == "message-gone"
    with pytest.raises(VrambleError, match="no longer there"):
        store.show_version("c", "nobody", 1)
    assert texts(store, "c") == ["one", "first"]


def test_saving_a_purged_answer_says_so(store: Store) -> None:
    store.ask("c", Question(id="q", text="x"), AnswerStart(id="a"))
    store.delete("c")
    assert store.purge(["c"]) == 1
    assert not store.save_text("a", "more")
    assert not store.end(AnswerEnd(id="a", text="more", status=Status.DONE))
    assert store.thread("c") is None


def test_newest_first(store: Store, clock: Clock) -> None:
    for name in ("c1", "c2", "c3"):
        turn(store, name, name, "x")
        clock.advance(10)
    turn(store, "c1", "again", "y")
    assert [c.id for c in store.conversations()] == ["c1", "c3", "c2"]


def test_titles_come_from_the_first_question_and_stay(store: Store) -> None:
    turn(store, "c", "\u200b ", "x")
    assert store.conversation("c").title == UNTITLED  # type: ignore[union-attr]
    turn(store, "c", "Real\nquestion", "x")
    turn(store, "c", "Another", "x")
    assert store.conversation("c").title == "Real question"  # type: ignore[union-attr]


def test_rename_is_one_line_and_blank_brings_the_first_question_back(store: Store) -> None:
    turn(store, "c", "Question", "x")
    renamed = store.rename("c", " New\nname\u202e ")
    assert renamed is not None
    assert renamed.title == "New name"
    turn(store, "c", "More", "x")
    assert store.conversation("c").title == "New name"  # type: ignore[union-attr]
    assert store.rename("c", "  ").title == "Question"  # type: ignore[union-attr]
    assert store.rename("nobody", "x") is None


def test_delete_hides_undo_brings_back_purge_removes(store: Store, path: Path) -> None:
    thread = turn(store, "c", "secret words", "secret answer")
    turn(store, "d", "other", "x")
    assert store.delete("c")
    assert not store.delete("c")
    assert [c.id for c in store.conversations()] == ["d"]
    assert store.undelete("c") == thread.conversation
    assert store.thread("c") == thread
    assert store.purge(["c"]) == 0
    store.delete("c")
    assert store.purge(["c", "d", "nobody"]) == 1
    assert store.undelete("c") is None
    assert [c.id for c in store.conversations()] == ["d"]
    files = [file.read_bytes() for file in path.parent.iterdir() if file.is_file()]
    assert not any(b"secret" in data for data in files)
    assert any(b"other" in data for data in files)


def test_old_deletions_are_purged_at_the_next_start_fresh_ones_are_not(
    store: Store, open_store: Callable[[], Store], clock: Clock, path: Path
) -> None:
    turn(store, "old", "x", "y")
    turn(store, "fresh", "x", "y")
    store.delete("old")
    clock.advance(UNDO_SECONDS)
    store.delete("fresh")
    clock.advance(1)
    store.close()
    open_store()
    assert query(path, "SELECT id FROM conversation") == [("fresh",)]
    assert query(path, "SELECT count(*) FROM message") == [(2,)]
    assert query(path, "SELECT count(*) FROM part") == [(2,)]


def test_a_long_conversation_can_be_purged(store: Store, path: Path) -> None:
    turn(store, "c", "x", "y")
    tip = store.conversation("c").tip  # type: ignore[union-attr]
    rows = []
    for number in range(3000):
        rows.append((f"m{number}", "c", tip, "user", "done", 0))
        tip = f"m{number}"
    with sqlite3.connect(path) as db:
        db.executemany(
            "INSERT INTO message (id, conversation, parent, role, status, created) VALUES (?,?,?,?,?,?)", rows
        )
    store.delete("c")
    assert store.purge(["c"]) == 1
    assert query(path, "SELECT count(*) FROM message") == [(0,)]


def test_streaming_answers_of_a_killed_program_are_stopped(store: Store, open_store: Callable[[], Store]) -> None:
    store.ask("c", Question(id="q", text="x"), AnswerStart(id="a"))
    store.save_text("a", "half an ans")
    again = open_store().thread("c")
    assert again is not None
    assert (again.messages[1].text, again.messages[1].status) == ("half an ans", Status.STOPPED)


def test_two_windows_share_the_file(store: Store, open_store: Callable[[], Store]) -> None:
    store.ask("c", Question(id="q", text="x"), AnswerStart(id="a"))
    other = open_store()
    assert texts(other, "c") == ["x", ""]
    turn(other, "d", "from the other", "y")
    assert store.save_text("a", "still streaming")
    thread = other.thread("c")
    assert thread is not None
    assert thread.messages[1].status == Status.STREAMING
    store.end(AnswerEnd(id="a", text="whole", status=Status.DONE))
    assert texts(other, "c") == ["x", "whole"]
    assert {c.id for c in store.conversations()} == {"c", "d"}


def test_a_locked_database_is_a_sentence(store: Store, path: Path) -> None:
    store._db.execute("PRAGMA busy_timeout = 1")
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(VrambleError) as failure:
        turn(store, "c", "x", "y")
    holder.close()
    assert failure.value.code == "database-busy"
    turn(store, "c", "x", "y")


def test_bugs_are_not_dressed_up(store: Store) -> None:
    store.ask("c", Question(id="q", text="x"), AnswerStart(id="a"))
    with pytest.raises(sqlite3.IntegrityError):
        store.ask("c", Question(id="q", text="twice"), AnswerStart(id="b"))
    assert texts(store, "c") == ["x", ""]


@pytest.mark.parametrize("text", ["a\ud83d", "nul\0nul", "\x1b[31mred", "bell\x07", "\ufffe"])
def test_any_text_is_stored_cleaned(store: Store, path: Path, text: str) -> None:
    """Case 53."""
    thread = turn(store, "c", text, text + "!")
    assert [m.text for m in thread.messages] == [clean(text), clean(text) + "!"]
    assert thread.conversation.title == clean(text)
    stored = query(path, "SELECT hex(content), length(content) FROM part ORDER BY id")
    assert [bytes.fromhex(str(h)).decode() for h, _ in stored] == [m.text for m in thread.messages]
    assert [length for _, length in stored] == [len(m.text) for m in thread.messages]
    store.rename("c", text)


def test_a_full_disk_is_a_sentence_and_loses_nothing(store: Store, path: Path) -> None:
    """Case 73."""
    turn(store, "c", "kept", "kept too")
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(VrambleError) as failure:
        turn(store, "c", "x" * 100_000, "y")
    assert failure.value.code == "disk-full"
    assert "disk is full" in failure.value.message
    assert str(path.parent) in failure.value.next_step
    assert texts(store, "c") == ["kept", "kept too"]
    store._db.execute(f"PRAGMA max_page_count = {pages + 1000}")
    turn(store, "c", "x" * 100_000, "y")
    assert len(texts(store, "c")) == 4


def test_streaming_saves_that_do_not_fit_keep_the_last_good_text(store: Store) -> None:
    store.ask("c", Question(id="q", text="x"), AnswerStart(id="a"))
    store.save_text("a", "short")
    store._db.execute(f"PRAGMA max_page_count = {store._db.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(VrambleError):
        store.save_text("a", "long " * 100_000)
    assert texts(store, "c") == ["x", "short"]


def test_damage_met_while_reading_is_examined_at_the_next_start(
    store: Store, open_store: Callable[[], Store], path: Path
) -> None:
    for number in range(40):
        turn(store, f"c{number}", "question " * 50, "answer " * 200)
    store.close()
    page = query(path, "SELECT rootpage FROM sqlite_master WHERE name = 'message'")[0][0]
    assert isinstance(page, int)
    data = bytearray(path.read_bytes())
    data[(page - 1) * 4096 : (page - 1) * 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)
    hurt = open_store()
    with pytest.raises(VrambleError) as failure:
        hurt.thread("c3")
    assert failure.value.code == "database-damaged"
    hurt.close()
    healed = open_store()
    assert [remark.code for remark in healed.remarks] == ["database-replaced"]
    assert len(healed.conversations()) >= 40
    assert [file.name for file in path.parent.glob("*.damaged-*") if not file.name.endswith(("-wal", "-shm"))]
    turn(healed, fresh("n"), "goes on", "yes")


def test_unknown_statements_behind_the_back_do_not_stop_opening(
    store: Store, open_store: Callable[[], Store], path: Path
) -> None:
    turn(store, "c", "x", "y")
    store.close()
    execute(path, "CREATE TABLE of_a_plugin (x)")
    assert texts(open_store(), "c") == ["x", "y"]


def test_what_every_connection_is_set_to(store: Store) -> None:
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "secure_delete": 1}
    assert {name: store._db.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted


def test_a_change_between_reading_and_writing_is_kept_out(store: Store, path: Path) -> None:
    """Another window writes while this one, in the middle of a call, has only read so far."""
    first = turn(store, "c", "one", "first").messages[1].id
    outcomes: list[str] = []
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:

        def meddle(statement: str) -> None:
            if statement.startswith("SELECT id, parent, role"):
                try:
                    other.execute("UPDATE conversation SET title = 'meddled'")
                    outcomes.append("written")
                except sqlite3.OperationalError:
                    outcomes.append("kept out")

        store._db.set_trace_callback(meddle)
        store.retry("c", first, AnswerStart(id="b"))
        store._db.set_trace_callback(None)
    assert outcomes == ["kept out"]
