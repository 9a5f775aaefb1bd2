"""Opening: new, old, newer, empty, damaged, half there, and where nothing can be written."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat import migrations
from engine.chat.database import open_database
from engine.chat.migrations import MIGRATIONS, Migration
from engine.chat.records import AnswerStart, Question, Status
from engine.chat.store import Store
from engine.errors import VrambleError
from tests.engine.chat.conftest import Clock
from tests.engine.chat.support import execute, query, texts, turn

SCHEMA_V1 = (Path(__file__).parent / "schema_v1.sql").read_text(encoding="utf-8")
LATEST = MIGRATIONS[-1].number
NEXT = (*MIGRATIONS, Migration(LATEST + 1, "a column more", "ALTER TABLE message ADD COLUMN mood TEXT;"))
BROKEN = (
    *MIGRATIONS,
    Migration(LATEST + 1, "half", "ALTER TABLE message ADD COLUMN mood TEXT;\nCREATE TABLE message (x);"),
)


@pytest.fixture
def first_version(path: Path) -> Path:
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as db:
        db.executescript("PRAGMA synchronous = OFF;" + SCHEMA_V1)
    return path


def names(path: Path, pattern: str) -> list[str]:
    beside = ("-wal", "-shm", ".lock")
    return sorted(file.name for file in path.parent.glob(pattern) if not file.name.endswith(beside))


def test_a_new_database(path: Path, store: Store) -> None:
    assert (store.saved, store.remarks, store.conversations()) == (True, (), [])
    assert query(path, "PRAGMA user_version") == [(LATEST,)]
    assert query(path, "PRAGMA journal_mode") == [("wal",)]
    assert query(path, "SELECT number, name FROM migration") == [(step.number, step.name) for step in MIGRATIONS]
    assert names(path, "*") == [path.name]


def test_migrations_are_numbered_without_gaps() -> None:
    assert [step.number for step in MIGRATIONS] == list(range(1, LATEST + 1))
    assert len({step.name for step in MIGRATIONS}) == LATEST


def test_version_1_as_it_was_released(first_version: Path, open_store: Callable[[], Store]) -> None:
    store = open_store()
    thread = store.thread("c1")
    assert thread is not None
    assert thread.conversation.title == "What does GTT mean?"
    assert [(m.id, m.text, m.status, m.version, m.versions, m.problem) for m in thread.messages] == [
        ("q1", "What does GTT mean?", Status.DONE, 1, 1, ""),
        ("a2", "Graphics tr", Status.FAILED, 2, 2, ""),
    ]
    first = store.show_version("c1", "a2", -1).messages[1]
    assert first.stats is not None
    assert first.settings is not None
    assert (first.stats.decode_tps, first.settings.n_ctx, first.model) == (120.25, 4096, "SmolLM2 135M")
    assert query(first_version, "PRAGMA user_version") == [(LATEST,)]


def test_the_first_migration_is_the_released_schema(first_version: Path, tmp_path: Path, clock: Clock) -> None:
    ours = tmp_path / "ours.sqlite3"
    open_database(ours, clock(), MIGRATIONS[:1]).db.close()
    layout = (
        "SELECT m.name, t.name, t.type, t.[notnull], t.pk"
        " FROM sqlite_master m, pragma_table_info(m.name) t ORDER BY 1, 2"
    )
    assert query(ours, layout) == query(first_version, layout)
    indexes = "SELECT name FROM sqlite_master WHERE type = 'index' ORDER BY 1"
    assert query(ours, indexes) == query(first_version, indexes)


def test_migrating_keeps_a_backup_that_opens(first_version: Path, clock: Clock) -> None:
    store = Store.open(first_version, clock, NEXT)
    assert texts(store, "c1") == ["What does GTT mean?", "Graphics tr"]
    store.close()
    assert query(first_version, "PRAGMA user_version") == [(LATEST + 1,)]
    (backup,) = names(first_version, "*.backup-v1-*")
    Store.open(first_version, clock, NEXT).close()
    assert names(first_version, "*.backup-*") == [backup]
    kept = first_version.with_name(backup)
    assert query(kept, "PRAGMA user_version") == [(1,)]
    again = Store.open(kept, clock)
    assert texts(again, "c1") == ["What does GTT mean?", "Graphics tr"]
    again.close()


def test_a_migration_that_fails_leaves_the_file_as_it_was(first_version: Path, clock: Clock) -> None:
    before = query(first_version, "SELECT * FROM sqlite_master"), query(first_version, "SELECT * FROM message")
    with pytest.raises(VrambleError) as failure:
        Store.open(first_version, clock, BROKEN)
    assert failure.value.code == "migration-failed"
    assert (
        query(first_version, "SELECT * FROM sqlite_master"),
        query(first_version, "SELECT * FROM message"),
    ) == before
    assert query(first_version, "PRAGMA user_version") == [(1,)]
    Store.open(first_version, clock).close()


ODD = {
    "no model": ("UPDATE message SET model = NULL", 1, 3),
    "conversation without messages": ("INSERT INTO conversation VALUES ('c2', 'empty', 0, 0, NULL, NULL)", 2, 3),
    "messages without a conversation": ("UPDATE message SET conversation = 'lost' WHERE id = 'a1'", 2, 3),
    "all messages without a conversation": ("DELETE FROM conversation", 1, 3),
    "parts without a message": ("DELETE FROM message WHERE id = 'a1'", 2, 3),
    "two of one name": ("INSERT INTO conversation VALUES ('c2', 'What does GTT mean?', 0, 0, NULL, NULL)", 2, 3),
    "times as text": ("UPDATE conversation SET created = 'long ago', updated = '2023-11-14'", 1, 3),
    "times as 0": ("UPDATE conversation SET created = 0, updated = 0", 1, 3),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_rows_survive_a_migration(first_version: Path, clock: Clock, name: str) -> None:
    """Case 95."""
    statement, conversations, messages = ODD[name]
    execute(first_version, "PRAGMA foreign_keys = OFF", statement)
    store = Store.open(first_version, clock, NEXT)
    assert len(store.conversations()) == conversations
    shown = [message for c in store.conversations() for message in store.thread(c.id).messages]  # type: ignore[union-attr]
    assert shown
    store.close()
    assert query(first_version, "SELECT count(*) FROM message") == [(messages,)]
    assert query(first_version, "SELECT count(*) FROM part") == [(3,)]
    (backup,) = names(first_version, "*.backup-v1-*")
    assert query(first_version.with_name(backup), "PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize("missing", ["conversation", "message", "part"])
def test_half_of_the_tables(first_version: Path, open_store: Callable[[], Store], missing: str) -> None:
    execute(first_version, "PRAGMA foreign_keys = OFF", f"DROP TABLE {missing}")
    store = open_store()
    assert [remark.code for remark in store.remarks] == ["database-replaced"]
    (kept,) = names(first_version, "*.damaged-2023-11-1?")
    assert kept in store.remarks[0].next_step
    found = {c.title: len(texts(store, c.id)) for c in store.conversations()}
    question = "What does GTT mean?"
    assert (
        found
        == {
            "conversation": {question: 2},
            "message": {question: 0, "Recovered messages": 3},
            "part": {question: 2},
        }[missing]
    )
    turn(store, store.conversations()[0].id, "goes on", "yes")
    assert store._db.execute("PRAGMA foreign_keys").fetchone()[0] == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 500, b"SQLite format 3\0", b"not a database " * 1000, "text".encode("utf-16")],
    ids=["empty", "NULs", "magic only", "text", "UTF-16"],
)
def test_damaged_files_are_kept_aside(path: Path, open_store: Callable[[], Store], content: bytes) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    store = open_store()
    assert [remark.code for remark in store.remarks] == ["database-replaced"]
    (kept,) = names(path, "*.damaged-*")
    assert path.with_name(kept).read_bytes() == content
    turn(store, "c", "works", "yes")
    store.close()
    again = open_store()
    assert (again.remarks, texts(again, "c")) == ((), ["works", "yes"])


def test_two_damaged_files_on_one_day(path: Path, open_store: Callable[[], Store]) -> None:
    path.parent.mkdir(parents=True)
    for content in (b"first", b"second"):
        path.write_bytes(content)
        open_store().close()
    assert [path.with_name(name).read_bytes() for name in names(path, "*.damaged-*")] == [b"first", b"second"]


def test_a_cut_file_gives_back_what_can_be_read(path: Path, open_store: Callable[[], Store]) -> None:
    store = open_store()
    for number in range(60):
        turn(store, f"c{number:02}", f"question {number} " * 20, "answer " * 300)
    store.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 9 // 10])
    healed = open_store()
    assert [remark.code for remark in healed.remarks] == ["database-replaced"]
    found = healed.conversations()
    assert len(found) >= 20
    assert sum(len(texts(healed, c.id)) for c in found) >= 70
    turn(healed, found[0].id, "goes on", "yes")


def test_a_newer_database_is_left_untouched(store: Store, path: Path, open_store: Callable[[], Store]) -> None:
    turn(store, "c", "from the future", "x")
    store.close()
    execute(path, f"PRAGMA user_version = {LATEST + 1}")
    before = path.read_bytes(), names(path, "*")
    with pytest.raises(VrambleError) as failure:
        open_store()
    assert failure.value.code == "database-newer"
    assert str(LATEST + 1) in failure.value.detail
    assert (path.read_bytes(), names(path, "*")) == before


def test_a_private_store_works_and_says_why(path: Path, clock: Clock) -> None:
    reason = VrambleError("database-newer", "Newer.")
    store = Store.private(path, reason, clock)
    assert (store.saved, store.remarks) == (False, (reason,))
    assert [m.text for m in turn(store, "c", "q", "a").messages] == ["q", "a"]
    store.close()
    assert not path.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path, clock: Clock) -> None:
    """Case 77."""
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "data" / "vramble.sqlite3"
    store = Store.open(path, clock)
    assert [remark.code for remark in store.remarks] == ["not-saved"]
    assert not store.saved
    assert str(path) in store.remarks[0].message
    turn(store, "c", "q", "a")
    assert texts(store, "c") == ["q", "a"]
    store.close()


READ_ONLY = """
import os, sys
from pathlib import Path
from engine.chat.store import Store
from engine.chat.records import AnswerEnd, AnswerStart, Question, Status
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
store = Store.open(Path(sys.argv[1]))
print([remark.code for remark in store.remarks], store.saved)
print([message.text for message in store.thread("c").messages])
store.ask("c", Question(id="q9", text="more"), AnswerStart(id="a9"))
print(len(store.thread("c").messages))
"""


@pytest.mark.parametrize("log_left", [False, True], ids=["closed", "with a log"])
def test_a_read_only_folder_shows_the_history(store: Store, path: Path, repository: Path, log_left: bool) -> None:
    """Case 77: as a user without the right to write."""
    turn(store, "c", "kept", "too")
    if not log_left:
        store.close()
    else:
        # as a kill leaves it: the log holds what the file does not
        store._db.execute("PRAGMA wal_autocheckpoint = 0")
    for place in [path.parent, *path.parent.parents]:
        if place == Path("/tmp") or place == Path("/"):
            break
        place.chmod(place.stat().st_mode | stat.S_IRWXU | 0o055)
    for file in path.parent.iterdir():
        file.chmod(0o444)
    path.parent.chmod(0o555)
    env = {**os.environ, "PYTHONPATH": str(repository)}
    command = [sys.executable, "-B", "-c", READ_ONLY, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd="/", check=False)
    path.parent.chmod(0o755)
    assert done.stdout.splitlines() == ["['not-saved'] False", "['kept', 'too']", "4"], done.stderr
    assert query(path, "SELECT count(*) FROM message") == [(2,)]


@pytest.mark.parametrize("kind", ["device", "pipe"])
def test_what_is_no_file_is_not_waited_for(path: Path, clock: Clock, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/null") if kind == "device" else os.mkfifo(path)
    with closing(Store.open(path, clock)) as store:
        assert (store.saved, [remark.code for remark in store.remarks]) == (False, ["not-saved"])
    assert not path.is_file()


def test_housekeeping_that_cannot_write_does_not_stop_the_start(
    store: Store, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 73: a full disk at the start; the history is there."""
    store.ask("c", Question(id="q", text="x"), AnswerStart(id="a"))
    store.close()

    def full(self: Store) -> None:
        raise VrambleError("disk-full", "Full.")

    monkeypatch.setattr(Store, "_tidy", full)
    reopened = Store.open(path, clock)
    assert texts(reopened, "c") == ["x", ""]
    reopened.close()


def test_a_process_that_was_faster_with_the_migration(first_version: Path, clock: Clock) -> None:
    with closing(sqlite3.connect(first_version, isolation_level=None)) as late:
        Store.open(first_version, clock, NEXT).close()
        assert migrations.apply(late, NEXT, clock()) == 0
        assert migrations.version_of(late) == LATEST + 1


def test_a_failed_step_ends_its_transaction(first_version: Path, clock: Clock) -> None:
    with closing(sqlite3.connect(first_version, isolation_level=None)) as db:
        with pytest.raises(sqlite3.OperationalError):
            migrations.apply(db, BROKEN, clock())
        assert not db.in_transaction
        assert "mood" not in [row[1] for row in db.execute("PRAGMA table_info(message)")]


FULL_DISK = """
mount -t tmpfs -o size=2m tmpfs "$1" && exec "$2" -B -c "$3" "$1"
"""
ON_A_FULL_DISK = """
import sys
from pathlib import Path
from app.settings import file
from engine.chat.records import AnswerEnd, AnswerStart, Question, Status
from engine.chat.store import Store
from engine.errors import VrambleError
folder = Path(sys.argv[1])
database, settings = folder / "vramble.sqlite3", folder / "settings.json"
store = Store.open(database)
store.ask("c", Question(id="q", text="kept"), AnswerStart(id="a"))
store.end(AnswerEnd(id="a", text="kept too", status=Status.DONE))
file.update(settings, lambda _: {"pane": {"width": 20}}, {})
before = settings.read_bytes()
with (folder / "filler").open("wb", buffering=0) as filler:
    try:
        while True:
            filler.write(bytes(4096))
    except OSError as error:
        print(error.errno)
try:
    store.ask("c", Question(id="q2", text="x" * 100_000), AnswerStart(id="a2"))
except VrambleError as error:
    print(error.code)
try:
    file.update(settings, lambda _: {"pane": {"fill": "x" * 10_000}}, {})
except OSError as error:
    print(error.errno, settings.read_bytes() == before)
store.close()
again = Store.open(database)
print(again.saved, [message.text for message in again.thread("c").messages])
(folder / "filler").unlink()
again.ask("c", Question(id="q3", text="x" * 100_000), AnswerStart(id="a3"))
print(len(again.thread("c").messages))
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_disk_that_is_really_full(tmp_path: Path, repository: Path) -> None:
    """Case 73, on a small file system of its own where the system lets us have one."""
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", FULL_DISK, "sh", str(tmp_path)]
    env = {**os.environ, "PYTHONPATH": str(repository)}
    done = subprocess.run(
        [*command, sys.executable, ON_A_FULL_DISK], capture_output=True, text=True, env=env, check=False
    )
    if "unshare" in done.stderr or "mount" in done.stderr:
        pytest.skip(f"no private mounts here: {done.stderr.strip()}")
    expected = ["28", "disk-full", "28 True", "True ['kept', 'kept too']", "4"]
    assert done.stdout.splitlines() == expected, done.stderr
