"""An import is there as a whole or not at all, and others write meanwhile."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.checking import examine_file
from engine.chat.portable import PortableConversation, PortableMessage, PortablePart
from engine.chat.store import Store
from engine.chat_files import own_json
from engine.chat_files.importing import BATCH, Imported, Progress, import_files
from engine.chat_files.messages import Done, Failed, Going, Import, command, decode_event, encode, environment
from engine.errors import VrambleError
from tests.engine.chat.support import texts, turn

KILLED = """
import pathlib, sys
from engine.chat.store import Store
from engine.chat_files.importing import import_files
def rest(_seconds):
    print("written", flush=True)
    sys.stdin.read()
import_files(Store.open(pathlib.Path(sys.argv[1])), [pathlib.Path(sys.argv[2])], rest=rest)
"""


def conversation(number: int, *words: str, folder: str | None = None) -> PortableConversation:
    messages: list[PortableMessage] = []
    for place, text in enumerate(words):
        parent = messages[-1].id if messages else None
        role = "assistant" if place % 2 else "user"
        messages.append(
            PortableMessage(id=f"c{number}-{place}", parent=parent, role=role, parts=(PortablePart(content=text),))
        )
    return PortableConversation(id=f"c{number}", title=f"Title {number}", folder=folder, messages=tuple(messages))


def many(count: int = 2 * BATCH + 5, **about: str) -> list[PortableConversation]:
    return [conversation(number, f"question {number}", "answer walrus", **about) for number in range(count)]


def exported(folder: Path, conversations: list[PortableConversation]) -> Path:
    path = folder / "export.json"
    path.write_bytes(b"".join(own_json.encode(conversations)))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store.open(tmp_path / "data" / "vramble.sqlite3")) as found:
        yield found


@pytest.fixture
def other(store: Store) -> Iterator[Store]:
    """As the window has it, while ``store`` imports."""
    with closing(Store.open(store._path)) as found:
        yield found


def rows(store: Store, table: str) -> int:
    with closing(sqlite3.connect(store._path)) as db:
        return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_nothing_is_seen_before_all_is_there(store: Store, other: Store, tmp_path: Path) -> None:
    turn(other, "own", "my question", "my answer")
    seen: list[tuple[int, int, int, int]] = []

    def rest(_seconds: float) -> None:
        found = len(other.search("walrus").hits)
        seen.append((len(other.conversations()), found, len(other.folders()), len(other.every_id())))

    path = exported(tmp_path, many(folder="Sea"))
    assert import_files(store, [path], rest=rest) == Imported(new=2 * BATCH + 5)
    assert seen == [(1, 0, 0, 1)] * 3
    assert len(other.conversations()) == 2 * BATCH + 6
    assert len(other.search("walrus").hits) == 2 * BATCH + 5
    (folder,) = other.folders()
    assert {one.folder for one in other.conversations()} == {folder.id, None}
    assert texts(other, "c3") == ["question 3", "answer walrus"]
    assert examine_file(store._path).sound


def test_others_write_between_the_batches(store: Store, other: Store, tmp_path: Path) -> None:
    count = 0

    def rest(_seconds: float) -> None:
        nonlocal count
        count += 1
        turn(other, "own", f"question {count}", "answer")

    import_files(store, [exported(tmp_path, many())], rest=rest)
    assert len(texts(other, "own")) == 6
    assert len(other.conversations()) == 2 * BATCH + 6


def test_new_messages_of_known_conversations_wait_too(store: Store, other: Store, tmp_path: Path) -> None:
    import_files(store, [exported(tmp_path, [conversation(0, "question", "answer")])])
    longer = [conversation(0, "question", "answer", "more", "walrus"), *many()[1:]]
    seen: list[int] = []

    def rest(_seconds: float) -> None:
        other.purge_messages()
        whole = other.whole("c0")
        assert whole is not None
        seen.append(len(whole.messages))

    done = import_files(store, [exported(tmp_path, longer)], rest=rest)
    assert (done.merged, done.new) == (1, 2 * BATCH + 4)
    assert seen == [2, 2, 2]
    whole = other.whole("c0")
    assert whole is not None
    assert [message.text for message in whole.messages] == ["question", "answer", "more", "walrus"]


def test_a_bad_second_file_takes_the_first_one_back(store: Store, tmp_path: Path) -> None:
    import_files(store, [exported(tmp_path, [conversation(0, "question", "answer")])])
    longer = exported(tmp_path, [conversation(0, "question", "answer", "more"), *many(folder="Sea")[1:]])
    with pytest.raises(VrambleError) as told:
        import_files(store, [longer, tmp_path / "none.json"])
    assert told.value.code == "import-file"
    assert store.every_id() == ["c0"]
    assert (rows(store, "message"), rows(store, "part"), store.folders()) == (2, 2, [])
    assert not store.search("walrus").hits
    assert import_files(store, [longer]).merged == 1


def test_the_progress_counts_to_the_end(store: Store, tmp_path: Path) -> None:
    told: list[Progress] = []
    import_files(store, [exported(tmp_path, many())], told.append)
    total = 2 * BATCH + 5
    assert told == [Progress(0, 0), *(Progress(done, total) for done in (BATCH, 2 * BATCH, total))]


@pytest.fixture
def killed(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database in which a killed import has left something."""
    monkeypatch.setattr("engine.chat.file_locks.IMPORT_WAIT_SECONDS", 0.0)
    turn(store, "own", "my question", "my answer")
    path = exported(tmp_path, many(folder="Sea"))
    arguments = [sys.executable, "-c", KILLED, str(store._path), str(path)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "written\n"
        assert not store.drop_unfinished()
        assert rows(store, "conversation") == BATCH + 1
        with pytest.raises(VrambleError) as told:
            import_files(store, [path])
        assert told.value.code == "import-busy"
        process.kill()
    return path


def test_what_a_killed_import_left_is_never_seen(killed: Path, store: Store) -> None:
    assert store.every_id() == ["own"]
    while store.drop_unfinished():
        pass
    assert (rows(store, "conversation"), rows(store, "message"), rows(store, "part")) == (1, 2, 2)
    assert not store.search("walrus").hits
    assert examine_file(store._path).sound


def test_an_import_after_a_killed_one(killed: Path, store: Store) -> None:
    assert import_files(store, [killed]) == Imported(new=2 * BATCH + 5)
    assert examine_file(store._path).sound


def ask(request: Import) -> list[Going | Done | Failed]:
    process = subprocess.run(
        command(), input=encode(request), env=environment(), capture_output=True, check=False, timeout=120
    )
    events = [decode_event(line) for line in process.stdout.splitlines()]
    assert process.stderr == b""
    return [event for event in events if event is not None]


def held_open(request: Import) -> list[Going | Done | Failed]:
    """As a window asks: the pipe stays open."""
    with subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(encode(request))
        process.stdin.flush()
        events = [decode_event(line) for line in process.stdout]
        process.stdin.close()
    return [event for event in events if event is not None]


def test_the_child_imports(store: Store, tmp_path: Path) -> None:
    path = exported(tmp_path, many())
    events = held_open(Import(database=bytes(store._path), files=(bytes(path),)))
    assert events[-1] == Done(imported=Imported(new=2 * BATCH + 5))
    assert all(isinstance(event, Going) for event in events[:-1])
    assert len(store.conversations()) == 2 * BATCH + 5


def test_the_child_leaves_a_running_answer_alone(store: Store, tmp_path: Path) -> None:
    turn(store, "own", "question", "answer")
    with closing(sqlite3.connect(store._path)) as db:
        db.execute("UPDATE message SET status = 'streaming' WHERE role = 'assistant'")
        db.commit()
    held_open(Import(database=bytes(store._path), files=(bytes(exported(tmp_path, many())),)))
    with closing(sqlite3.connect(store._path)) as db:
        query = "SELECT status FROM message WHERE conversation = 'own' AND role = 'assistant'"
        assert db.execute(query).fetchall() == [("streaming",)]


def test_the_child_fails_in_words(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"nothing": 1}))
    (*_, last) = held_open(Import(database=bytes(store._path), files=(bytes(path),)))
    assert isinstance(last, Failed)
    assert last.code == "import-unknown"


def test_a_parent_that_is_gone_ends_the_child(store: Store, tmp_path: Path) -> None:
    """The pipe is closed at once: nothing of a large import is seen, or all of it."""
    path = exported(tmp_path, many())
    ask(Import(database=bytes(store._path), files=(bytes(path),)))
    assert len(store.conversations()) in (0, 2 * BATCH + 5)
