"""Search: ordinary text, prefixes, phrases, other scripts; what is shown of a hit; pages; deleted texts are gone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat import search_index
from engine.chat.finding import PAGE
from engine.chat.found import Hit, Stage
from engine.chat.records import AnswerEnd, AnswerStart, Question, Status
from engine.chat.search_text import chunks_of, fold, match_of
from engine.chat.snippets import patterns_of, snippet
from engine.chat.store import Store
from tests.engine.chat.conftest import Clock
from tests.engine.chat.support import execute, turn


def hits(store: Store, query: str) -> list[Hit]:
    """All pages and steps."""
    found = store.search(query)
    every = list(found.hits)
    while found.cursor is not None:
        found = store.search(query, found.cursor)
        every += found.hits
    return every


def messages(store: Store, query: str) -> list[str]:
    return [hit.line for hit in hits(store, query) if hit.message is not None]


ORDINARY = [
    "read-only", "can't", "C++", "foo:bar", '"', "*", "NEAR(", "AND", 'a"b', "(x", "user@host", "3.14",
    "\U0001f469\u200d\U0001f680", "京", "%", "_", "東京都", "c'est", "naïve", "日本", "서울", "снег", "$5", "a+b",
    "~/.config", "x_y", "#tag", "\U0001f979", "\u0663", "\uff71",
]  # fmt: skip


@pytest.mark.parametrize("query", ORDINARY)
def test_any_text_is_found_by_itself(store: Store, query: str) -> None:
    turn(store, "other", "nothing of that", "words only")
    turn(store, "c", f"A line with {query} inside", f"我们去{query}吧")
    assert {hit.conversation for hit in hits(store, query)} == {"c"}


@pytest.mark.parametrize("query", ["", "  ", "\n", '""'])
def test_nothing_asked_nothing_found(store: Store, query: str) -> None:
    turn(store, "c", "hello", "there")
    assert store.search(query).hits == ()


def test_half_a_character_is_found_nowhere(store: Store) -> None:
    assert store.search("\ud800").hits == ()
    assert store.search('"x \udfff" y').hits == ()


def test_a_very_long_query_is_cut(store: Store) -> None:
    turn(store, "c", "hello", "there")
    assert hits(store, "word " * 2000) == []


def test_words_in_any_order_prefixes_and_phrases(store: Store) -> None:
    turn(store, "a", "the memory of cards", "fast")
    turn(store, "b", "cards and memories", "slow")
    assert {hit.conversation for hit in hits(store, "cards memor")} == {"a", "b"}
    assert {hit.conversation for hit in hits(store, "memory cards")} == {"a"}
    assert {hit.conversation for hit in hits(store, '"and memories"')} == {"b"}
    assert hits(store, '"memories and"') == []
    assert {hit.conversation for hit in hits(store, "mem* slow")} == set()
    assert {hit.conversation for hit in hits(store, "mem* cards")} == {"a", "b"}


def test_case_and_diacritics_do_not_matter(store: Store) -> None:
    turn(store, "c", "Über den CAFÉ-Tisch", "ok")
    (found,) = [hit for hit in hits(store, "uber cafe") if hit.message is not None]
    assert [found.line[start : start + length] for start, length in found.marks] == ["Über", "CAFÉ"]


def test_parts_of_words_come_after_words(store: Store) -> None:
    turn(store, "a", "filename of it", "x")
    turn(store, "b", "name of it", "x")
    first = store.search("name")
    assert [hit.conversation for hit in first.hits if hit.message is not None] == ["b"]
    assert first.cursor is not None
    assert first.cursor.stage is Stage.INSIDE
    assert [hit.conversation for hit in hits(store, "name") if hit.message is not None] == ["b", "a"]


def test_newest_first_in_pages_and_each_once(store: Store) -> None:
    for number in range(PAGE + 20):
        turn(store, f"c{number:03}", f"kernel {number}", "answer")
    found = [hit.conversation for hit in hits(store, "kernel") if hit.message is not None]
    assert found == [f"c{number:03}" for number in reversed(range(PAGE + 20))]


def test_titles_are_found_too(store: Store) -> None:
    turn(store, "c", "hello", "there")
    store.rename("c", "Plans for Lisbon")
    (hit,) = hits(store, "lisb")
    assert (hit.message, hit.line, hit.marks) == (None, "Plans for Lisbon", ((10, 4),))


def test_only_what_is_not_deleted(store: Store) -> None:
    turn(store, "c", "secret words", "answer")
    thread = turn(store, "c", "other secret", "answer")
    store.delete_from("c", thread.messages[2].id)
    assert len(messages(store, "secret")) == 1
    store.delete("c")
    assert hits(store, "secret") == []
    store.undelete("c")
    store.undelete_from("c", thread.messages[2].id, thread.conversation.tip)
    assert len(messages(store, "secret")) == 2


def test_an_answer_is_found_when_it_has_ended(store: Store) -> None:
    store.ask("c", Question(id="q", text="go"), AnswerStart(id="a"))
    store.save_text("a", "walrus is coming")
    assert [hit for hit in store.search("walrus").hits if hit.message] == []
    store.end(AnswerEnd(id="a", text="walrus has come", status=Status.DONE))
    assert messages(store, "walrus") == ["walrus has come"]
    store.resume("c", "a")
    store.end(AnswerEnd(id="a", text="walrus has gone", status=Status.DONE))
    store.end(AnswerEnd(id="a", text="walrus has gone", status=Status.DONE))
    assert messages(store, "walrus") == ["walrus has gone"]
    assert messages(store, "come") == []


def test_a_hit_in_another_branch_can_be_shown(store: Store) -> None:
    thread = turn(store, "c", "question", "first answer")
    store.retry("c", thread.messages[1].id, AnswerStart(id="second"))
    store.end(AnswerEnd(id="second", text="another one", status=Status.DONE))
    (hit,) = [hit for hit in hits(store, "first") if hit.message is not None]
    shown = store.show_message("c", hit.message or "")
    assert shown is not None
    assert [message.text for message in shown.messages] == ["question", "first answer"]
    assert store.show_message("c", "gone") is None


def test_bytes_that_are_not_utf8_do_not_stop_a_search(store: Store, path: Path) -> None:
    turn(store, "c", "good words", "answer")
    execute(path, "UPDATE part SET content = CAST(x'61ff62' AS TEXT) WHERE position = 0 AND id = 2")
    assert len(hits(store, "good")) >= 1
    assert store.whole("c") is not None


def contents(path: Path) -> bytes:
    found = b""
    for ending in ("", "-wal", "-journal"):
        file = path.with_name(path.name + ending)
        found += file.read_bytes() if file.exists() else b""
    return found.lower()


@pytest.mark.parametrize("how", ["conversation", "messages"])
def test_removed_words_are_in_no_file(store: Store, path: Path, clock: Clock, how: str) -> None:
    """The index too: its pieces are merged, and freed pages are overwritten."""
    for number in range(30):
        turn(store, f"c{number}", f"question number {number}", "usual answer")
    thread = turn(store, "gone", "xylophonequartz", "zymurgyvexed answer")
    assert b"xylophonequartz" in contents(path)
    if how == "conversation":
        store.delete("gone")
        store.purge(["gone"])
    else:
        store.delete_from("gone", thread.messages[0].id)
        store.rename("gone", "other")
        clock.advance(1)
        store.purge_messages()
    while store.forget_words():
        pass
    for word in (b"xylophonequartz", b"ylophonequ", b"zymurgyvexed"):
        assert word not in contents(path)
    assert len(messages(store, "usual")) == 30


def index_words(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'text_index', 'instance')")
        return db.execute("SELECT term, doc, offset FROM temp.words ORDER BY 1, 2, 3").fetchall()


def test_the_index_kept_up_is_the_one_built_anew(store: Store, path: Path) -> None:
    thread = turn(store, "a", "one two three", "四五六 seven")
    turn(store, "a", "eight", "nine")
    turn(store, "b", "ten", "eleven")
    store.edit("a", thread.messages[0].id, Question(id="e", text="one changed"), AnswerStart(id="ea"))
    store.end(AnswerEnd(id="ea", text="twelve", status=Status.STOPPED))
    store.branch("a", "ea", "copy", "Copy")
    store.retry("a", "ea", AnswerStart(id="running"))
    store.save_text("running", "not yet")
    store.delete("b")
    store.purge(["b"])
    store.resume("a", "ea")
    store.end(AnswerEnd(id="ea", text="thirteen", status=Status.DONE))
    kept = index_words(path)
    with store._transaction():
        search_index.begin_anew(store._db)
    while store.build_index():
        pass
    assert index_words(path) == kept
    assert kept


def test_an_older_history_is_indexed_by_and_by(store: Store, path: Path) -> None:
    for number in range(5):
        turn(store, f"c{number}", f"walrus {number}", "answer")
    with store._transaction():
        search_index.begin_anew(store._db)
        assert search_index.build(store._db, 4)
    found = [hit.line for hit in store.search("walrus").hits if hit.message]
    assert found == ["walrus 4", "walrus 3"]
    assert store.unindexed() > 0
    turn(store, "new", "walrus new", "answer")
    store.delete("c0")
    store.purge(["c0"])
    while store.build_index():
        pass
    found = [hit.line for hit in store.search("walrus").hits if hit.message]
    assert sorted(found) == ["walrus 1", "walrus 2", "walrus 3", "walrus 4", "walrus new"]
    assert store.unindexed() == 0


def test_answers_stopped_by_a_kill_are_indexed_at_the_next_start(path: Path, clock: Clock) -> None:
    first = Store.open(path, clock)
    first.ask("c", Question(id="q", text="go"), AnswerStart(id="a"))
    first.save_text("a", "half a walrus")
    first.close()
    second = Store.open(path, clock)
    assert messages(second, "walrus") == ["half a walrus"]
    second.close()


def test_a_damaged_index_keeps_nothing_from_being_saved(store: Store, path: Path) -> None:
    turn(store, "c", "before", "it")
    execute(path, "UPDATE text_index_data SET block = x'00'")
    turn(store, "c", "after the damage", "still saved")
    thread = store.thread("c")
    assert thread is not None
    assert [message.text for message in thread.messages] == ["before", "it", "after the damage", "still saved"]
    while store.build_index():
        pass
    assert messages(store, "before") == ["before"]


def test_other_words_begin_the_index_anew(store: Store, path: Path, clock: Clock) -> None:
    turn(store, "c", "walrus", "it")
    store.close()
    execute(path, "UPDATE text_index_state SET version = 0")
    again = Store.open(path, clock)
    assert again.unindexed() > 0
    while again.build_index():
        pass
    assert messages(again, "walrus") == ["walrus"]
    again.close()


@given(st.text())
def test_queries_never_fail(query: str) -> None:
    with closing(sqlite3.connect(":memory:")) as db:
        db.execute(search_index.CREATE)
        db.execute("INSERT INTO text_index (rowid, text) VALUES (1, 'some words')")
        match = match_of(chunks_of(query))
        if match:
            db.execute("SELECT rowid FROM text_index WHERE text_index MATCH ?", (match,)).fetchall()


@given(st.text(), st.text())
def test_snippets_never_fail_and_marks_lie_inside(text: str, query: str) -> None:
    line, marks = snippet(text, patterns_of(chunks_of(query)))
    assert "\n" not in line
    end = 0
    for start, length in marks:
        assert start >= end
        assert length > 0
        end = start + length
    assert end <= len(line)


@given(st.text())
def test_folding_loses_no_letters(text: str) -> None:
    letters = [char for char in text if char.isalnum() and char.isascii()]
    assert [char for char in fold(text) if char in letters][: len(letters)] or not letters


def test_a_snippet_of_a_long_text_is_short_and_has_the_word() -> None:
    line, marks = snippet("lorem " * 5000 + "needle " + "ipsum " * 5000, patterns_of(chunks_of("needle")))
    assert len(line) < 200
    (mark,) = marks
    assert line[mark[0] : mark[0] + mark[1]] == "needle"
