"""Search while typing, titles by the model, export and import, long conversations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.chat.exchange import Format, Imported
from app.chat.search import ENOUGH
from app.chat.search_rows import SearchRows
from app.chat.titling import TitleSettings, request_for, title_in
from app.jobs import SerialRunner
from engine.chat.records import AnswerEnd, AnswerStart, Question, Status
from engine.chat.store import Store
from engine.errors import VrambleError
from engine.protocol.frames import Delta, Failed, Finished, Generate
from engine.protocol.types import FinishReason, GenerationStats
from tests.app.chat.conftest import Chat
from tests.app.chat.cranked import Cranked
from tests.app.chat.scripted_engine import model_info


def test_a_search_while_it_is_typed(chat: Chat) -> None:
    chat.say("What is a walrus?", "A large animal")
    search = chat.controller.keeping.search
    rows = SearchRows(search)
    for typed in ("w", "wa", "walr"):
        search.ask(typed)
    states = [search.searching]
    chat.database.drain()
    assert [*states, search.searching] == [True, False]
    assert search.query == "walr"
    assert [hit.line for hit in search.hits] == ["What is a walrus?", "What is a walrus?"]
    assert rows.rowCount() == 2
    search.ask("nothing of that")
    chat.database.drain()
    assert search.hits == ()
    search.ask("")
    assert (search.query, search.searching, rows.rowCount()) == ("", False, 0)


def test_more_pages_are_fetched_when_they_are_wanted(chat: Chat) -> None:
    store = Store.open(chat.path, chat.now)
    for number in range(2 * ENOUGH + 10):
        store.ask(f"c{number}", Question(id=f"q{number}", text=f"kernel {number}"), AnswerStart(id=f"a{number}"))
        store.rename(f"c{number}", "other")
    store.close()
    search = chat.controller.keeping.search
    rows = SearchRows(search)
    search.ask("kernel")
    chat.database.drain()
    assert rows.rowCount() == ENOUGH
    assert rows.canFetchMore(rows.index(-1, -1))
    rows.fetchMore(rows.index(-1, -1))
    chat.database.drain()
    assert rows.rowCount() == 2 * ENOUGH
    rows.fetchMore(rows.index(-1, -1))
    chat.database.drain()
    assert rows.rowCount() == 2 * ENOUGH + 10


def test_a_search_that_fails_says_why(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise VrambleError("disk-error", "The disk reports an error.")

    monkeypatch.setattr(Store, "search", broken)
    search = chat.controller.keeping.search
    search.ask("word")
    chat.database.drain()
    assert search.problem is not None
    assert not search.searching


def test_a_hit_opens_its_conversation_at_the_message(chat: Chat) -> None:
    chat.say("What is a walrus?", "A large animal")
    chat.controller.new_conversation()
    chat.say("other", "words")
    search = chat.controller.keeping.search
    wanted: list[str] = []
    chat.controller.message_wanted.connect(wanted.append)
    search.ask("large")
    chat.database.drain()
    (hit,) = [hit for hit in search.hits if hit.message]
    chat.controller.open(hit.conversation, hit.message)
    chat.database.drain()
    assert chat.shown == ["What is a walrus?", "A large animal"]
    assert wanted == [hit.message]


def test_a_long_conversation_shows_its_end_first(chat: Chat) -> None:
    store = Store.open(chat.path, chat.now)
    for number in range(120):
        start = AnswerStart(id=f"a{number:04}")
        store.ask("long", Question(id=f"q{number:04}", text=f"question {number}"), start)
        store.end(AnswerEnd(id=start.id, text=f"answer {number}", status=Status.DONE))
    store.close()
    chat.controller.open("long")
    chat.database.turn()
    assert (len(chat.rows), chat.shown[-1]) == (60, "answer 119")
    chat.database.drain()
    earlier = chat.controller._open.place._earlier
    while earlier.timer.isActive():
        earlier.step()
    assert chat.shown == [text for number in range(120) for text in (f"question {number}", f"answer {number}")]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("Walrus facts", "Walrus facts"),
        ('"Walrus facts."', "Walrus facts"),
        ("Title: **Walrus facts**\n\nMore words", "Walrus facts"),
        ("标题：海象的知识", "海象的知识"),
        ("\n\n# Walrus", "Walrus"),
        ("", ""),
        ("  \n", ""),
        ("one two three four five six seven eight nine ten eleven", ""),
        ("x" * 71, ""),
        ("Write only the title", ""),
    ],
)
def test_titles_in_what_a_model_writes(written: str, title: str) -> None:
    assert title_in(written) == title


class Looks:
    """Plays `WorkerService.look`."""

    def __init__(self) -> None:
        self.asked: list[Generate] = []
        self.done: Callable[[Finished | Failed], None] = lambda _event: None
        self.on_delta: Callable[[Delta], None] = lambda _delta: None

    def __call__(
        self,
        request: Generate,
        done: Callable[[Finished | Failed], None],
        on_delta: Callable[[Delta], None] = lambda _delta: None,
    ) -> int:
        self.asked.append(request)
        self.done, self.on_delta = done, on_delta
        return 7

    def write(self, *pieces: str) -> None:
        for piece in pieces:
            self.on_delta(Delta(id=7, text=piece, tokens=1, tps=1.0))
        self.done(Finished(id=7, reason=FinishReason.STOP, stats=GenerationStats()))


@pytest.fixture
def looks(chat: Chat) -> Looks:
    found = Looks()
    chat.controller.keeping.titling.look = found
    return found


def test_the_model_gives_the_title_after_the_first_answer(chat: Chat, looks: Looks) -> None:
    chat.say("What is a walrus?", "A large animal")
    (asked,) = looks.asked
    assert asked.temporary
    assert [turn.role for turn in asked.messages] == ["user", "assistant", "user"]
    looks.write("Walrus", " facts")
    chat.database.drain()
    assert chat.titles == ["Walrus facts"]
    chat.say("And more?", "Yes")
    assert len(looks.asked) == 1


def test_the_users_title_stays(chat: Chat, looks: Looks) -> None:
    id_ = chat.say("What is a walrus?", "A large animal")
    chat.controller.rename(id_, "Mine")
    chat.database.drain()
    looks.write("Walrus facts")
    chat.database.drain()
    assert chat.titles == ["Mine"]


def test_a_look_that_gave_way_is_tried_again_but_not_for_ever(chat: Chat, looks: Looks) -> None:
    for number in range(5):
        chat.say(f"question {number}", "answer")
        looks.done(Failed(id=7, code="cancelled", message="", detail=""))
        chat.database.drain()
    assert len(looks.asked) == 3
    assert chat.titles == ["question 0"]


def test_it_can_be_switched_off(chat: Chat, looks: Looks) -> None:
    chat.settings.put(TitleSettings(by_model=False))
    chat.say("What is a walrus?", "A large animal")
    assert looks.asked == []


def test_nothing_is_asked_without_an_answer() -> None:
    assert request_for([]) is None


def test_export_and_import(qtbot: QtBot, chat: Chat, tmp_path: Path) -> None:
    files = Cranked()
    exchange = chat.controller.keeping.exchange
    exchange.runner = SerialRunner(files)
    id_ = chat.say("What is a walrus?", "A large animal")
    exported: list[int | VrambleError] = []
    imported: list[Imported | VrambleError] = []
    path = tmp_path / "all.json"
    assert exchange.export((), path, Format.JSON, each=False, done=exported.append)
    assert exchange.running
    assert not exchange.import_files([path], imported.append)
    files.drain()
    assert exported == [1]
    chat.controller.delete(id_)
    chat.database.drain()
    chat.controller._parts.deletions.purge()
    chat.database.drain()
    assert chat.titles == []
    assert exchange.import_files([path], imported.append)
    assert not exchange.import_files([path], imported.append)
    qtbot.waitUntil(lambda: len(imported) == 1, timeout=60_000)
    chat.database.drain()
    assert imported == [Imported(new=1)]
    assert chat.titles == ["What is a walrus?"]
    assert exchange.import_files([tmp_path / "none.json"], imported.append)
    qtbot.waitUntil(lambda: len(imported) == 2, timeout=60_000)
    assert isinstance(imported[-1], VrambleError)
    assert not exchange.running


def test_an_import_keeps_temporary_conversations_in_the_list(qtbot: QtBot, chat: Chat, tmp_path: Path) -> None:
    files = Cranked()
    exchange = chat.controller.keeping.exchange
    exchange.runner = SerialRunner(files)
    chat.say("What is a walrus?", "A large animal")
    path = tmp_path / "all.json"
    exchange.export((), path, Format.JSON, each=False, done=lambda _result: None)
    files.drain()
    chat.controller.new_conversation(temporary=True)
    chat.say("Nobody may know", "Nobody will")
    before = sorted(chat.titles)
    imported: list[Imported | VrambleError] = []
    exchange.import_files([path], imported.append)
    qtbot.waitUntil(lambda: bool(imported), timeout=60_000)
    chat.database.drain()
    assert imported == [Imported(known=1)]
    assert sorted(chat.titles) == before == ["Nobody may know", "What is a walrus?"]
    assert chat.controller.temporary


def test_purged_words_leave_the_index_by_and_by(chat: Chat) -> None:
    upkeep = chat.controller.keeping.upkeep
    upkeep.step()
    chat.database.drain()
    id_ = chat.say("xylophonequartz", "answer")
    chat.controller.delete(id_)
    chat.controller._parts.deletions.purge()
    chat.database.drain()
    for _ in range(50):
        upkeep.step()
        chat.database.drain()
    assert not upkeep.building
    assert not upkeep._forgetting
    content = b"".join(one.read_bytes() for one in chat.path.parent.glob("vramble.sqlite3*"))
    assert b"xylophonequartz" not in content


def test_nothing_begins_when_the_program_has_ended(chat: Chat) -> None:
    """The last deletions are on their way to the disk when the database is closed."""
    upkeep = chat.controller.keeping.upkeep
    one = chat.say("one", "first")
    upkeep.step()
    chat.controller.delete(one)
    chat.controller.close(lambda: None)
    chat.database.drain()
    assert not upkeep.timer.isActive()


def test_an_answer_keeps_the_name_of_a_model_that_is_gone(chat: Chat) -> None:
    chat.say("first", "by the old one")
    before = [(row.author, row.text) for row in chat.rows]
    chat.engine.set_model(model_info("Another"))
    chat.say("second", "by the new one")
    assert [(row.author, row.text) for row in chat.rows][:2] == before
    assert chat.rows[3].author == "Another"
