"""Messages that are not sent yet: kept, replaced, gone with what they belong to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.database import open_database
from engine.chat.migrations import MIGRATIONS
from engine.chat.records import AnswerStart, Draft, Question
from engine.chat.store import Store
from tests.engine.chat.conftest import Clock
from tests.engine.chat.support import execute, query, texts, turn

HERE = Path(__file__).parent
SCHEMA_V1, SCHEMA_V2 = ((HERE / f"schema_v{number}.sql").read_text(encoding="utf-8") for number in (1, 2))
LAYOUT = (
    "SELECT m.type, m.name, t.name, t.type, t.[notnull], t.pk"
    " FROM sqlite_master m, pragma_table_info(m.name) t ORDER BY 1, 2, 3"
)
TYPED = Draft(text="half a thou")
LARGE = Draft(text="see", pasted=("line\n" * 100_000, "second"))


def made(path: Path, *schemas: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        for schema in schemas:
            db.executescript("PRAGMA synchronous = OFF;" + schema)
    return path


def test_version_1_gets_a_place_for_drafts(path: Path, open_store: Callable[[], Store], tmp_path: Path) -> None:
    made(path, SCHEMA_V1)
    store = open_store()
    assert (store.drafts(), texts(store, "c1")) == ({}, ["What does GTT mean?", "Graphics tr"])
    store.save_drafts({"c1": TYPED, None: LARGE})
    store.close()
    again = open_store()
    assert (again.remarks, again.drafts()) == ((), {"c1": TYPED, None: LARGE})
    assert query(path, "SELECT number, name FROM migration") == [(step.number, step.name) for step in MIGRATIONS]


def test_version_2_as_it_was_released(path: Path, open_store: Callable[[], Store], tmp_path: Path) -> None:
    made(path, SCHEMA_V1, SCHEMA_V2)
    store = open_store()
    assert store.drafts() == {None: Draft(text="A new thought"), "c1": Draft(text="And VRAM?", pasted=("a long log",))}
    assert texts(store, "c1") == ["What does GTT mean?", "Graphics tr"]


def test_the_second_migration_is_the_released_schema(path: Path, clock: Clock, tmp_path: Path) -> None:
    made(path, SCHEMA_V1)
    open_database(path, clock(), MIGRATIONS[:2]).db.close()
    released = made(tmp_path / "released.sqlite3", SCHEMA_V1, SCHEMA_V2)
    assert query(path, LAYOUT) == query(released, LAYOUT)


def test_a_version_2_without_its_table_is_damaged(path: Path, open_store: Callable[[], Store]) -> None:
    made(path, SCHEMA_V1, SCHEMA_V2)
    execute(path, "DROP TABLE draft")
    store = open_store()
    assert [remark.code for remark in store.remarks] == ["database-replaced"]
    assert (store.drafts(), texts(store, "c1")) == ({}, ["What does GTT mean?", "Graphics tr"])


def test_drafts_are_recovered_from_a_damaged_file(path: Path, open_store: Callable[[], Store]) -> None:
    made(path, SCHEMA_V1, SCHEMA_V2)
    execute(path, "DROP TABLE part")
    store = open_store()
    assert [remark.code for remark in store.remarks] == ["database-replaced"]
    assert store.drafts()["c1"] == Draft(text="And VRAM?", pasted=("a long log",))


def test_the_last_one_counts(store: Store) -> None:
    turn(store, "c", "q", "a")
    store.save_drafts({"c": LARGE})
    store.save_drafts({None: TYPED})
    store.save_drafts({"c": Draft(text="less", pasted=("second",))})
    assert store.drafts() == {None: TYPED, "c": Draft(text="less", pasted=("second",))}


@pytest.mark.parametrize("blank", [Draft(), Draft(text=" \n\t"), Draft(pasted=(" " * 30_000,))])
def test_a_blank_one_is_removed(store: Store, path: Path, blank: Draft) -> None:
    store.save_drafts({None: LARGE})
    store.save_drafts({None: blank})
    assert store.drafts() == {}
    assert query(path, "SELECT * FROM draft") == []


def test_only_pasted_text(store: Store) -> None:
    store.save_drafts({None: Draft(pasted=("x" * 30_000,))})
    assert store.drafts() == {None: Draft(pasted=("x" * 30_000,))}


def test_what_cannot_be_stored_is_replaced(store: Store) -> None:
    store.save_drafts({None: Draft(text="a\ud800b\0c")})
    assert store.drafts() == {None: Draft(text="a\ufffdb\ufffdc")}


def test_a_question_takes_the_place_of_its_draft(store: Store) -> None:
    turn(store, "other", "q", "a")
    store.save_drafts({None: TYPED, "other": LARGE})
    store.ask("c", Question(id="q1", text="half a thought"), AnswerStart(id="a1"))
    assert store.drafts() == {"other": LARGE}
    store.save_drafts({None: TYPED, "c": TYPED})
    store.ask("c", Question(id="q2", text="more"), AnswerStart(id="a2"))
    assert store.drafts() == {None: TYPED, "other": LARGE}


def test_a_deleted_conversation_takes_its_draft_along(store: Store, path: Path) -> None:
    turn(store, "c", "q", "a")
    store.save_drafts({"c": TYPED, None: LARGE})
    store.delete("c")
    assert store.drafts() == {None: LARGE}
    store.undelete("c")
    assert store.drafts() == {"c": TYPED, None: LARGE}
    store.delete("c")
    store.purge(["c"])
    assert query(path, "SELECT DISTINCT conversation FROM draft") == [("",)]


def test_no_draft_for_what_does_not_exist(store: Store, path: Path) -> None:
    store.save_drafts({"gone": TYPED})
    assert query(path, "SELECT * FROM draft") == []
