"""List models, groups, prompt and model choice, each alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.chat.conversation_list import ConversationListModel
from app.chat.groups import Group, Groups, day_of, group_of
from app.chat.model_choice import DOES_NOT_FIT, Choice, ModelChoice
from app.chat.prompt import build_prompt
from app.chat.rows import MessageRow, row_of
from app.chat.throttle import Throttle
from app.chat.transcript import TranscriptModel
from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from engine.chat.records import UNTITLED, Conversation, Message, Role, Status
from engine.errors import VrambleError
from engine.protocol.types import LoadOptions
from tests.app.chat.cranked import Cranked
from tests.app.chat.scripted_engine import ScriptedEngine, model_info

FATAL = QAbstractItemModelTester.FailureReportingMode.Fatal
NOON = datetime(2026, 3, 10, 12).timestamp()  # noqa: DTZ001 - the user's own clock
DAY = 86_400.0


def conversation(id_: str, updated: float, title: str = UNTITLED) -> Conversation:
    return Conversation(id=id_, title=title, created=0.0, updated=updated)


def message_row(id_: str, text: str = "") -> MessageRow:
    return MessageRow(id=id_, role=Role.USER, text=text, status=Status.DONE, author="You")


# The list of conversations


changes = st.lists(
    st.tuples(st.sampled_from(["put", "put", "put", "remove"]), st.sampled_from("abcdef"), st.integers(0, 9)),
    max_size=30,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(changes)
def test_the_list_is_sorted_whatever_happens(qtbot: QtBot, changes: list[tuple[str, str, int]]) -> None:
    model = ConversationListModel(lambda: NOON)
    tester = QAbstractItemModelTester(model, FATAL)
    expected: dict[str, Conversation] = {}
    for action, id_, updated in changes:
        if action == "put":
            expected[id_] = conversation(id_, updated, f"{id_}{updated}")
            model.put(expected[id_])
        else:
            expected.pop(id_, None)
            model.remove(id_)
        rows = model.rows
        assert {row.id: row for row in rows} == expected
        assert len(rows) == len(expected)
        assert [row.updated for row in rows] == sorted((row.updated for row in rows), reverse=True)
    del tester


def test_the_open_row_survives_a_move(qtbot: QtBot) -> None:
    from PySide6.QtCore import QPersistentModelIndex

    model = ConversationListModel(lambda: NOON)
    model.reset([conversation(str(n), 10 - n) for n in range(5)])
    kept = QPersistentModelIndex(model.index(3, 0))
    model.put(conversation("3", 100.0, "moved"))
    assert (kept.row(), kept.data()) == (0, "moved")


def test_roles(qtbot: QtBot) -> None:
    model = ConversationListModel(lambda: NOON)
    model.reset([conversation("a", NOON, "Title")])
    index = model.index(0, 0)
    role = ConversationListModel.Role
    values = [index.data(r) for r in (role.ID, role.TITLE, role.UPDATED, role.GROUP, Qt.ItemDataRole.DisplayRole)]
    assert values == ["a", "Title", NOON, "Today", "Title"]
    assert index.data(Qt.ItemDataRole.ToolTipRole) is None
    assert model.data(QModelIndex(), role.ID) is None
    assert bool(index.flags() & Qt.ItemFlag.ItemIsEditable)
    assert b"group" in model.roleNames().values()


def test_a_new_day_moves_the_headings(qtbot: QtBot) -> None:
    now = [NOON]
    model = ConversationListModel(lambda: now[0])
    model.reset([conversation("a", NOON)])
    changed: list[list[int]] = []
    model.dataChanged.connect(lambda first, last, roles: changed.append(list(roles)))
    model.refresh_groups()
    assert changed == []
    now[0] += DAY
    model.refresh_groups()
    assert changed == [[ConversationListModel.Role.GROUP]]
    assert model.index(0, 0).data(ConversationListModel.Role.GROUP) == "Yesterday"


@pytest.mark.parametrize(
    ("days", "group"),
    [
        (-5, Group.TODAY),
        (0, Group.TODAY),
        (1, Group.YESTERDAY),
        (2, Group.WEEK),
        (7, Group.WEEK),
        (8, Group.MONTH),
        (30, Group.MONTH),
        (31, Group.OLDER),
    ],
)
def test_groups(days: int, group: Group) -> None:
    today = date(2026, 3, 10)
    noon = datetime(2026, 3, 10, 12) - timedelta(days=days)  # noqa: DTZ001 - the user's own clock
    assert group_of(noon.timestamp(), today) is group


@given(st.floats(-1e12, 1e12) | st.floats(1.77e9, 1.775e9), st.dates(date(2026, 1, 1), date(2026, 12, 31)))
def test_many_times_have_the_same_groups(seconds: float, today: date) -> None:
    assert Groups(today).of(seconds) is group_of(seconds, today)


@pytest.mark.parametrize("seconds", [0.0, -1e18, 1e18, float("inf"), float("nan")])
def test_times_that_no_calendar_has(seconds: float) -> None:
    assert isinstance(day_of(seconds), date)
    assert group_of(seconds, date(2026, 3, 10)) is Group.OLDER
    assert Groups(date(2026, 3, 10)).of(seconds) is Group.OLDER


# The transcript


ids = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.tuples(ids, st.integers(0, 2)), max_size=6))
def test_show_ends_at_the_new_rows(qtbot: QtBot, states: list[tuple[list[str], int]]) -> None:
    model = TranscriptModel()
    tester = QAbstractItemModelTester(model, FATAL)
    for names, edition in states:
        rows = [message_row(name, f"{name}{edition}") for name in names]
        model.show(rows)
        assert list(model.rows) == rows
        assert [model.index(n, 0).data(Qt.ItemDataRole.UserRole) for n in range(model.rowCount())] == rows
    del tester


def test_rows_that_stay_are_not_touched(qtbot: QtBot) -> None:
    model = TranscriptModel()
    model.reset([message_row(name, name) for name in "abc"])
    log: list[tuple[str, int, int]] = []
    model.dataChanged.connect(lambda first, last, roles: log.append(("changed", first.row(), last.row())))
    model.rowsInserted.connect(lambda parent, first, last: log.append(("inserted", first, last)))
    model.rowsRemoved.connect(lambda parent, first, last: log.append(("removed", first, last)))
    model.modelReset.connect(lambda: log.append(("reset", 0, 0)))
    model.show([message_row("a", "a"), message_row("b", "other"), message_row("x", "x"), message_row("y", "y")])
    assert log == [("removed", 2, 2), ("changed", 1, 1), ("inserted", 2, 3)]
    log.clear()
    model.update(message_row("b", "other"))
    model.update(message_row("nobody"))
    assert log == []


class CountedId(str):
    """An id that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        CountedId.compared += 1
        return str.__eq__(self, other) is True

    def __hash__(self) -> int:
        return str.__hash__(self)


def test_a_new_state_of_many_rows_is_not_searched_row_by_row(qtbot: QtBot) -> None:
    """Each message sent shows a new state; a thousand rows must not cost a million comparisons."""
    model = TranscriptModel()
    names = [CountedId(number) for number in range(1000)]
    model.reset([message_row(name, "before") for name in names])
    CountedId.compared = 0
    model.show([message_row(name, "after") for name in names])
    assert CountedId.compared < 5 * len(names)
    assert {row.text for row in model.rows} == {"after"}


def test_what_a_row_gives(qtbot: QtBot) -> None:
    model = TranscriptModel()
    model.reset([message_row("a", "text")])
    index = model.index(0, 0)
    assert index.data() == "text"
    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "You: text"
    assert index.data(Qt.ItemDataRole.ToolTipRole) is None
    assert model.data(QModelIndex(), Qt.ItemDataRole.UserRole) is None
    assert (model.row("a"), model.row("b")) == (message_row("a", "text"), None)


# Rows and prompt


def message(role: Role, text: str, status: Status = Status.DONE, **more: object) -> Message:
    values: dict[str, object] = {
        "id": "m",
        "conversation": "c",
        "parent": None,
        "role": role,
        "role_name": role.value,
        "text": text,
        "status": status,
        "created": 1.0,
    }
    return msgspec.convert({**values, **more}, Message)


def test_rows_of_odd_messages() -> None:
    other = message(Role.OTHER, "result", role_name="tool", problem="This message is damaged: no figures.")
    row = row_of(other)
    assert (row.author, row.error) == ("tool", "This message is damaged: no figures.")
    assert row_of(message(Role.ASSISTANT, "x")).author == "Model"
    assert row_of(message(Role.ASSISTANT, "x", error="Cut.", problem="Damaged.")).error == "Cut."


U, A, S, X = Role.USER, Role.ASSISTANT, Role.SYSTEM, Role.OTHER
FLOWS = {
    "plain": ([(U, "1"), (A, "2"), (U, "3")], "user:1 assistant:2 user:3"),
    "stopped before the first token": ([(U, "1"), (A, ""), (U, "2")], "user:1|2"),
    "failed without text": ([(U, "1"), (A, " \n"), (U, "2"), (A, "")], "user:1|2"),
    "answer deleted": ([(U, "1"), (U, "2"), (A, "3"), (U, "4")], "user:1|2 assistant:3 user:4"),
    "answers in a row": ([(U, "1"), (A, "2"), (A, "3"), (U, "4")], "user:1 assistant:2|3 user:4"),
    "begins with an answer": ([(A, "1"), (U, "2")], "user:2"),
    "unknown role": ([(U, "1"), (X, "x"), (A, "2"), (U, "3")], "user:1 assistant:2 user:3"),
    "system in the middle": ([(U, "1"), (S, "s"), (A, "2"), (U, "3")], "system:s user:1 assistant:2 user:3"),
    "nothing": ([(A, "")], ""),
}


@pytest.mark.parametrize("name", FLOWS)
def test_prompts(name: str) -> None:
    """Case 19."""
    turns, expected = FLOWS[name]
    prompt = build_prompt("", [message(role, text) for role, text in turns])
    assert " ".join(f"{turn.role}:{turn.content}" for turn in prompt).replace("\n\n", "|") == expected


def test_partial_text_is_kept() -> None:
    stopped = message(A, "half", Status.STOPPED)
    failed = message(A, "broken", Status.FAILED)
    prompt = build_prompt("Be kind.", [message(U, "1"), stopped, message(U, "2"), failed, message(U, "3")])
    assert [turn.content for turn in prompt] == ["Be kind.", "1", "half", "2", "broken", "3"]


@given(st.text(max_size=3), st.lists(st.tuples(st.sampled_from(Role), st.text(max_size=3))))
def test_any_prompt_alternates(system: str, turns: list[tuple[Role, str]]) -> None:
    prompt = build_prompt(system, [message(role, text) for role, text in turns])
    spoken = [turn for turn in prompt if turn.role != "system"]
    assert all(turn.content.strip() for turn in prompt)
    assert [turn.role for turn in spoken] == [("user", "assistant")[n % 2] for n in range(len(spoken))]
    assert all(turn.role != "system" for turn in prompt[1:])


# Choosing a model


@dataclass(frozen=True)
class OnDisk:
    path: Path
    can_chat: bool = True


class Choosing:
    def __init__(self, folder: Path) -> None:
        self.engine = ScriptedEngine()
        self.settings = SettingsStore(folder / "settings.json", SerialRunner(Cranked()), Notices())
        self.installed: Sequence[OnDisk] | None = ()
        self.choice = ModelChoice(self.engine, self.settings, lambda: self.installed)

    def chosen(self) -> str:
        found = self.choice.choose()
        return str(found.path) if isinstance(found, Choice) else found.code


@pytest.fixture
def choosing(qtbot: QtBot, tmp_path: Path) -> Choosing:
    return Choosing(tmp_path)


A_MODEL, B_MODEL = OnDisk(Path("/models/A.gguf")), OnDisk(Path("/models/B.gguf"))


@pytest.mark.parametrize(
    ("last", "installed", "expected"),
    [
        ("", (), "no-model"),
        ("", None, "no-model"),
        ("", (A_MODEL,), "/models/A.gguf"),
        ("", (A_MODEL, OnDisk(Path("/models/mmproj.gguf"), can_chat=False)), "/models/A.gguf"),
        ("", (A_MODEL, B_MODEL), "no-model"),
        ("/models/B.gguf", (A_MODEL, B_MODEL), "/models/B.gguf"),
        ("/models/B.gguf", None, "/models/B.gguf"),
        ("/models/B.gguf", (A_MODEL,), "model-gone"),
        ("/models/B.gguf", (), "model-gone"),
    ],
)
def test_choice(choosing: Choosing, last: str, installed: Sequence[OnDisk] | None, expected: str) -> None:
    """Case 104: never another model than the one before without a word."""
    choosing.settings.put(EngineSettings(last_model=last, n_ctx=777))
    choosing.installed = installed
    assert choosing.chosen() == expected
    found = choosing.choice.choose()
    if isinstance(found, Choice):
        assert found.options.n_ctx == 777
    else:
        assert isinstance(found, VrambleError)
        assert found.next_step


def test_the_last_model_is_refused_where_it_would_not_fit(qtbot: QtBot, tmp_path: Path) -> None:
    choosing = Choosing(tmp_path)
    asked: list[tuple[Path, LoadOptions]] = []
    refusal = VrambleError(DOES_NOT_FIT, "It would not fit.", "Choose how it is loaded.", "/models/A.gguf")

    def refuse(path: Path, options: LoadOptions) -> VrambleError | None:
        asked.append((path, options))
        return refusal if path == A_MODEL.path else None

    choice = ModelChoice(choosing.engine, choosing.settings, lambda: (A_MODEL, B_MODEL), refuse=refuse)
    choosing.settings.put(EngineSettings(last_model=str(A_MODEL.path), n_ctx=777))
    assert choice.choose() is refusal
    assert asked == [(A_MODEL.path, EngineSettings(n_ctx=777).load_options())]
    choosing.settings.put(EngineSettings(last_model=str(B_MODEL.path)))
    assert isinstance(choice.choose(), Choice)


def test_a_loaded_model_is_remembered(choosing: Choosing) -> None:
    choosing.engine.set_model(model_info("Tiny"))
    choosing.engine.set_model(None)
    assert choosing.settings.get(EngineSettings).last_model == "/models/Tiny.gguf"
    choosing.installed = None
    assert choosing.chosen() == "/models/Tiny.gguf"


# Throttle


def test_the_throttle_loses_nothing(qtbot: QtBot) -> None:
    calls: list[int] = []
    count = [0]
    throttle = Throttle(3_600_000, lambda: calls.append(count[0]))
    for _ in range(10):
        count[0] += 1
        throttle.poke()
    assert calls == [1]
    throttle.timer.timeout.emit()
    assert calls == [1, 10]
    throttle.timer.timeout.emit()
    assert calls == [1, 10]
    throttle.stop()
    throttle.poke()
    assert calls == [1, 10, 10]
    throttle.poke()
    throttle.stop()
    throttle.timer.timeout.emit()
    assert calls == [1, 10, 10]
