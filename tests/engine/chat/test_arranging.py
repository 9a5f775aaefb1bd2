"""Folders, pins, archive, order by hand, titles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine.chat.records import TITLED_BY_MODEL, TITLED_BY_USER
from engine.chat.store import Store
from tests.engine.chat.support import execute, turn


@pytest.fixture
def three(store: Store) -> Store:
    for name in "abc":
        turn(store, name, f"question {name}", "answer")
    return store


def test_folders_in_their_order(store: Store) -> None:
    store.make_folder("f1", "Work")
    store.make_folder("f2", "Play\nmore")
    assert [(one.id, one.title, one.folded) for one in store.folders()] == [
        ("f1", "Work", False),
        ("f2", "Play more", False),
    ]
    assert [one.id for one in store.order_folders(["f2", "f1"])] == ["f2", "f1"]
    store.change_folder("f1", title="Office", folded=True)
    store.change_folder("f2", title="  ")
    assert [(one.title, one.folded) for one in store.folders()] == [("Play more", False), ("Office", True)]
    assert len(store.make_folder("f3", " \u200b")) == 2


def test_a_removed_folder_leaves_its_conversations(three: Store) -> None:
    three.make_folder("f", "Work")
    (filed,) = three.file(["a"], "f")
    assert filed.folder == "f"
    assert three.remove_folder("f") == []
    assert [one.folder for one in three.conversations()] == [None, None, None]


def test_pinned_archived_and_filed_exclude_each_other(three: Store) -> None:
    (pinned,) = three.pin(["a"], True)
    assert pinned.pinned is not None
    three.make_folder("f", "Work")
    (filed,) = three.file(["a"], "f")
    assert (filed.folder, filed.pinned) == ("f", None)
    three.pin(["a"], True)
    (archived,) = three.archive(["a"], True)
    assert (archived.pinned, archived.archived is not None) == (None, True)
    (back,) = three.pin(["a"], True)
    assert back.archived is None


def test_arranging_does_not_count_as_a_change(three: Store) -> None:
    before = [(one.id, one.updated) for one in three.conversations()]
    three.pin(["a"], True)
    three.archive(["b"], True)
    three.order(["a"])
    assert [(one.id, one.updated) for one in three.conversations()] == before


def test_order_by_hand(three: Store) -> None:
    assert [one.place for one in three.order(["c", "a"])] == [0.0, 1.0]
    assert three.pin(["gone"], True) == []


def test_the_model_gives_a_title_once_and_never_over_the_users(three: Store) -> None:
    first = three.conversation("a")
    assert first is not None
    assert first.titled is None
    made = three.entitle("a", "A short title")
    assert made is not None
    assert (made.title, made.titled) == ("A short title", TITLED_BY_MODEL)
    again = three.entitle("a", "Another")
    assert again is not None
    assert again.title == "A short title"
    three.rename("b", "Mine")
    kept = three.entitle("b", "Not this")
    assert kept is not None
    assert (kept.title, kept.titled) == ("Mine", TITLED_BY_USER)
    blank = three.rename("b", "")
    assert blank is not None
    assert (blank.title, blank.titled) == ("question b", None)
    assert three.entitle("c", " \n ") == three.conversation("c")


def test_a_damaged_file_gives_folders_and_places_back(
    store: Store, path: Path, open_store: Callable[[], Store]
) -> None:
    turn(store, "a", "walrus", "answer")
    store.make_folder("f", "Work")
    store.file(["a"], "f")
    store.archive(["a"], True)
    store.close()
    execute(path, "DROP TABLE draft")
    recovered = open_store()
    assert [remark.code for remark in recovered.remarks] == ["database-replaced"]
    assert [folder.title for folder in recovered.folders()] == ["Work"]
    (one,) = recovered.conversations()
    assert (one.folder, one.archived is not None) == ("f", True)
    while recovered.build_index():
        pass
    assert [hit.conversation for hit in recovered.search("walrus").hits if hit.message] == ["a"]
