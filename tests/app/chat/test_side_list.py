"""The list at the left: sections, folders, moves; what dropping rows means."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester

from app.chat.side_drop import Dropped, drop_on
from app.chat.side_list import SideListModel
from app.chat.side_rows import Section, SideRow, archive_rows, side_rows
from engine.chat.records import Conversation, Folder
from tests.app.chat.conftest import Chat

F, G = Folder(id="F", title="Work"), Folder(id="G", title="Play", folded=True)


def one(id_: str, updated: float = 0.0, **values: object) -> Conversation:
    return Conversation(id=id_, title=id_, created=0.0, updated=updated, **values)  # type: ignore[arg-type]


MANY = [
    one("t", temporary=True),
    one("a"),
    one("p1", pinned=1.0),
    one("f1", folder="F"),
    one("x", archived=2.0),
    one("g1", folder="G"),
    one("p2", pinned=2.0, place=0.0),
    one("f2", folder="F", place=1.0),
    one("f3", folder="F", place=0.0),
    one("lost", folder="gone"),
]


def names(rows: list[SideRow]) -> list[str]:
    return [row.key[1] for row in rows]


def test_sections() -> None:
    rows = side_rows(MANY, [F, G])
    assert names(rows) == ["t", "p1", "p2", "F", "f1", "f3", "f2", "G", "a", "lost"]
    assert [row.section for row in rows if row.section is not Section.BY_TIME][:3] == [
        Section.TEMPORARY,
        Section.PINNED,
        Section.PINNED,
    ]
    assert [row.size for row in rows if row.conversation is None] == [3, 1]
    assert names(archive_rows(MANY)) == ["x"]


ROWS = side_rows(MANY, [F, G])
AT = {name: number for number, name in enumerate(names(ROWS))}


@pytest.mark.parametrize(
    ("dragged", "before", "on", "meant"),
    [
        ("a", -1, "F", Dropped(Section.FOLDERS, ("a",), "F")),
        ("a", -1, "G", Dropped(Section.FOLDERS, ("a",), "G")),
        ("a", -1, "f3", Dropped(Section.FOLDERS, ("a",), "F", ("f1", "a", "f3", "f2"))),
        ("a", AT["f2"], None, Dropped(Section.FOLDERS, ("a",), "F", ("f1", "f3", "a", "f2"))),
        ("a", AT["f1"], None, Dropped(Section.FOLDERS, ("a",), "F", ("a", "f1", "f3", "f2"))),
        ("f2", AT["f1"], None, Dropped(Section.FOLDERS, ("f2",), "F", ("f2", "f1", "f3"))),
        ("a", -1, "p2", Dropped(Section.PINNED, ("a",), order=("p1", "a", "p2"))),
        ("p2", AT["p1"], None, Dropped(Section.PINNED, ("p2",), order=("p2", "p1"))),
        ("f1", -1, "a", Dropped(Section.BY_TIME, ("f1",))),
        ("f1", -1, None, Dropped(Section.BY_TIME, ("f1",))),
        ("f1", AT["a"], None, Dropped(Section.BY_TIME, ("f1",))),
        ("G", AT["F"], None, Dropped(Section.FOLDERS, folders=("G", "F"))),
        ("F", -1, None, Dropped(Section.FOLDERS, folders=("G", "F"))),
    ],
)
def test_drops(dragged: str, before: int, on: str | None, meant: Dropped) -> None:
    place = AT[on] if on is not None else None
    assert drop_on(ROWS, [ROWS[AT[dragged]]], before, place) == meant


def test_nothing_dragged_means_nothing() -> None:
    assert drop_on(ROWS, [], 0, None) is None


@pytest.fixture
def rows(chat: Chat) -> SideListModel:
    found = chat.controller.keeping.rows
    QAbstractItemModelTester(found, QAbstractItemModelTester.FailureReportingMode.Fatal, found)
    return found


def shown(rows: SideListModel) -> list[str]:
    return [str(rows.index(row, 0).data()) for row in range(rows.rowCount())]


def say_three(chat: Chat) -> list[str]:
    found = []
    for name in ("one", "two", "three"):
        chat.controller.new_conversation()
        found.append(chat.say(name, "answer"))
    return found


def test_commands_through_the_store(chat: Chat, rows: SideListModel) -> None:
    first, second, third = say_three(chat)
    arrangement = chat.controller.keeping.arrangement
    made: list[str] = []
    arrangement.folder_made.connect(made.append)
    assert shown(rows) == ["three", "two", "one"]
    arrangement.pin([first], True)
    chat.database.drain()
    assert shown(rows) == ["one", "three", "two"]
    arrangement.make_folder("Work", [second])
    chat.database.drain()
    assert shown(rows) == ["one", "Work", "two", "three"]
    assert len(made) == 1
    arrangement.fold(made[0], True)
    chat.database.drain()
    assert shown(rows) == ["one", "Work", "three"]
    assert rows.inside(made[0]) == [second]
    arrangement.archive([third], True)
    chat.database.drain()
    assert shown(rows) == ["one", "Work"]
    rows.show_archive(True)
    assert shown(rows) == ["three"]
    rows.show_archive(False)
    arrangement.archive([third], False)
    arrangement.rename_folder(made[0], "Office")
    chat.database.drain()
    assert shown(rows) == ["one", "Office", "three"]
    arrangement.remove_folder(made[0], [second])
    chat.database.drain()
    assert shown(rows) == ["one", "three", "two"]


def test_rows_are_dropped_as_the_view_does_it(chat: Chat, rows: SideListModel) -> None:
    first, _, third = say_three(chat)
    chat.controller.keeping.arrangement.make_folder("Work")
    chat.database.drain()
    assert shown(rows) == ["Work", "three", "two", "one"]
    data = rows.mimeData([rows.index(3, 0), rows.index(1, 0)])
    assert not rows.dropMimeData(data, Qt.DropAction.MoveAction, -1, -1, rows.index(0, 0))
    chat.database.drain()
    assert shown(rows) == ["Work", "three", "one", "two"]
    assert set(rows.inside(rows.rows[0].key[1])) == {first, third}
    data = rows.mimeData([rows.index(2, 0)])
    rows.dropMimeData(data, Qt.DropAction.MoveAction, 1, 0, QModelIndex())
    chat.database.drain()
    assert shown(rows) == ["Work", "one", "three", "two"]


def test_a_row_that_moves_alone_is_moved(chat: Chat, rows: SideListModel) -> None:
    say_three(chat)
    resets: list[int] = []
    rows.modelReset.connect(lambda: resets.append(1))
    chat.controller.open(chat.controller.conversations.rows[2].id)
    chat.database.drain()
    chat.say("more", "answer")
    assert shown(rows) == ["one", "three", "two"]
    assert resets == []


def test_temporary_conversations_stay_where_they_are(chat: Chat, rows: SideListModel) -> None:
    chat.controller.new_conversation(temporary=True)
    assert chat.controller.temporary
    id_ = chat.say("secret", "answer")
    assert chat.controller.temporary
    assert rows.rows[0].section is Section.TEMPORARY
    arrangement = chat.controller.keeping.arrangement
    arrangement.pin([id_], True)
    arrangement.archive([id_], True)
    chat.database.drain()
    assert shown(rows) == ["secret"]
    assert chat.on_disk() == []
    chat.controller.new_conversation()
    assert not chat.controller.temporary


def test_the_first_row_of_a_group_has_its_heading(chat: Chat) -> None:
    for number in range(3):
        chat.controller.new_conversation()
        chat.say(f"Question {number}", "answer")
    keeping = chat.controller.keeping
    keeping.arrangement.pin([chat.current], pinned=True)
    chat.database.drain()
    rows = keeping.rows
    headings = [rows.index(at, 0).data(SideListModel.Role.HEADING) for at in range(rows.rowCount())]
    assert headings == ["Pinned", "Today", ""]
