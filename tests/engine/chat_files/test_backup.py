"""Backup and restore: whole or not at all, checked before anything is replaced, what was there is kept."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from engine.chat.database import open_database
from engine.chat.migrations import MIGRATIONS
from engine.chat.store import Store
from engine.chat_files.backup import DATABASE, MANIFEST, SETTINGS, make, read
from engine.chat_files.restoring import apply, discard, restore, stage, waiting_in
from engine.errors import VrambleError
from tests.engine.chat.support import texts, turn

NOW = 1_790_000_000.0


class Home:
    """An installation with one conversation and settings."""

    def __init__(self, folder: Path, words: str = "hello") -> None:
        self.database, self.settings = folder / "data" / DATABASE, folder / "config" / SETTINGS
        self.waiting = folder / "data" / "restore-waiting"
        self.settings.parent.mkdir(parents=True)
        self.settings.write_text(json.dumps({"version": 1, "preset": {"presets": []}, "note": words}))
        store = Store.open(self.database)
        turn(store, "c", words, "answer")
        store.close()

    def words(self) -> list[str]:
        store = Store.open(self.database)
        found = texts(store, "c")
        store.close()
        return found

    def files(self) -> set[str]:
        return {path.name for path in self.database.parent.iterdir()} - {"restore-waiting"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def backup(home: Home, tmp_path: Path) -> Path:
    target = tmp_path / "backup.zip"
    manifest = make(target, home.database, home.settings, program="1.0", now=NOW)
    assert (manifest.conversations, manifest.messages, manifest.program) == (1, 2, "1.0")
    return target


def test_a_backup_is_made_while_something_is_written(home: Home, tmp_path: Path) -> None:
    store = Store.open(home.database)
    turn(store, "c", "more", "words")
    manifest = make(tmp_path / "b.zip", home.database, home.settings, program="1.0", now=NOW)
    store.close()
    assert manifest.messages == 4
    assert read(tmp_path / "b.zip") == manifest
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_everything_comes_back_and_the_old_is_kept(backup: Path, tmp_path: Path) -> None:
    other = Home(tmp_path / "other", "other words")
    done = restore(backup, other.database, other.settings, now=NOW)
    assert other.words() == ["hello", "answer"]
    assert json.loads(other.settings.read_text())["note"] == "hello"
    assert len(done.kept) == 2
    kept = next(path for path in done.kept if path.name.startswith(DATABASE))
    store = Store.open(kept)
    assert texts(store, "c") == ["other words", "answer"]
    store.close()
    assert waiting_in(other.waiting) is None


def test_a_restore_into_nothing(backup: Path, tmp_path: Path) -> None:
    done = restore(backup, tmp_path / "new" / "data" / DATABASE, tmp_path / "new" / "config" / SETTINGS, now=NOW)
    assert done.kept == ()
    assert (tmp_path / "new" / "config" / SETTINGS).exists()


def test_it_waits_for_the_next_start(backup: Path, tmp_path: Path) -> None:
    other = Home(tmp_path / "other", "other words")
    manifest = stage(backup, other.waiting)
    assert waiting_in(other.waiting) == manifest
    assert other.words() == ["other words", "answer"]
    done = apply(other.waiting, other.database, other.settings, now=NOW)
    assert done is not None
    assert other.words() == ["hello", "answer"]
    assert apply(other.waiting, other.database, other.settings, now=NOW) is None


def test_what_waits_can_be_given_up(backup: Path, home: Home) -> None:
    stage(backup, home.waiting)
    discard(home.waiting)
    assert apply(home.waiting, home.database, home.settings, now=NOW) is None


def rewritten(backup: Path, **changes: bytes | None) -> Path:
    """The backup with files changed, or left out."""
    target = backup.with_name("changed.zip")
    names = {"database": DATABASE, "settings": SETTINGS, "manifest": MANIFEST}
    wanted = {names[key]: value for key, value in changes.items()}
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(target, "w") as archive:
        for name in source.namelist():
            content = wanted.get(name, source.read(name))
            if content is not None:
                archive.writestr(name, content)
    return target


def test_a_backup_that_is_not_there_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(VrambleError) as caught:
        read(tmp_path / "gone.zip")
    assert (caught.value.code, str(caught.value)) == ("backup-unreadable", "gone.zip is not there.")


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        ("no zip", "backup-unreadable"),
        ("cut", "backup-unreadable"),
        ("no manifest", "backup-unreadable"),
        ("other manifest", "backup-unreadable"),
        ("newer", "backup-newer"),
        ("database changed", "backup-damaged"),
        ("database missing", "backup-damaged"),
        ("byte flipped", "backup-damaged"),
    ],
)
def test_a_bad_backup_changes_nothing(backup: Path, tmp_path: Path, damage: str, code: str) -> None:
    other = Home(tmp_path / "other", "other words")
    before = other.files()
    manifest = json.loads(zipfile.ZipFile(backup).read(MANIFEST))
    made = {
        "no manifest": lambda: rewritten(backup, manifest=None),
        "other manifest": lambda: rewritten(backup, manifest=b'{"format": "x", "version": 1}'),
        "newer": lambda: rewritten(backup, manifest=json.dumps({**manifest, "version": 9}).encode()),
        "database changed": lambda: rewritten(backup, database=b"SQLite format 3\x00" + b"x" * 5000),
        "database missing": lambda: rewritten(backup, database=None),
    }
    bad = made[damage]() if damage in made else tmp_path / "bad.zip"
    if damage == "no zip":
        bad.write_bytes(b"something else")
    elif damage == "cut":
        bad.write_bytes(backup.read_bytes()[: backup.stat().st_size // 2])
    elif damage == "byte flipped":
        content = bytearray(backup.read_bytes())
        at = content.find(b"vramble.sqlite3") + 200
        content[at] ^= 0xFF
        bad.write_bytes(bytes(content))
    with pytest.raises(VrambleError) as raised:
        restore(bad, other.database, other.settings, now=NOW)
    assert raised.value.code == code
    assert other.words() == ["other words", "answer"]
    assert other.files() == before


@pytest.mark.parametrize("name", [DATABASE, MANIFEST])
def test_bits_that_flipped_anywhere_in_a_packed_file_are_found(backup: Path, tmp_path: Path, name: str) -> None:
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in source.namelist():
            archive.writestr(one, source.read(one))
        info = archive.getinfo(name)
    start = info.header_offset + 30 + len(name)
    codes = set()
    for at in range(start, start + info.compress_size, max(1, info.compress_size // 40)):
        content = bytearray(packed.read_bytes())
        content[at] ^= 0xFF
        bad = tmp_path / "bad.zip"
        bad.write_bytes(content)
        try:
            stage(bad, tmp_path / "waiting")
        except VrambleError as error:
            codes.add(error.code)
            assert not (tmp_path / "waiting").exists()
        discard(tmp_path / "waiting")  # the last bits of a packed file may mean nothing
    assert codes
    assert codes <= {"backup-damaged", "backup-unreadable"}


def test_two_restores_of_one_second_keep_both(backup: Path, tmp_path: Path) -> None:
    other = Home(tmp_path / "other", "other words")
    first = restore(backup, other.database, other.settings, now=NOW)
    second = restore(backup, other.database, other.settings, now=NOW)
    assert set(first.kept).isdisjoint(second.kept)
    store = Store.open(first.kept[0])
    assert texts(store, "c") == ["other words", "answer"]
    store.close()


@pytest.mark.parametrize("failing", [1, 2])
def test_what_was_there_is_back_when_something_cannot_be_moved(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """Neither the database nor settings that were never moved are lost."""
    other = Home(tmp_path / "other", "other words")
    stage(backup, other.waiting)
    rename, seen = Path.rename, []

    def refused(self: Path, target: Path) -> Path:
        if ".before-restore-" in target.name:
            seen.append(target)
            if len(seen) == failing:
                raise PermissionError(13, "no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(VrambleError) as raised:
        apply(other.waiting, other.database, other.settings, now=NOW)
    assert raised.value.code == "restore-failed"
    assert len(seen) == failing
    monkeypatch.undo()
    assert other.words() == ["other words", "answer"]
    assert json.loads(other.settings.read_text())["note"] == "other words"
    assert not [name for name in other.files() if "before-restore" in name]


def test_a_stage_that_fails_half_way_leaves_nothing_to_apply(
    backup: Path, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_self: Path, _data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(VrambleError) as raised:
        stage(backup, home.waiting)
    assert raised.value.code == "restore-failed"
    assert waiting_in(home.waiting) is None
    assert not [path for path in home.database.parent.iterdir() if path.name.startswith(".restore-")]


def test_a_database_that_is_damaged_inside_is_not_restored(backup: Path, tmp_path: Path) -> None:
    """Its checksum is right: it was damaged when the backup was made."""
    with zipfile.ZipFile(backup) as archive:
        content, manifest = bytearray(archive.read(DATABASE)), json.loads(archive.read(MANIFEST))
    for page in range(3, len(content) // 4096, 2):
        content[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    manifest["sha256"][DATABASE] = hashlib.sha256(content).hexdigest()
    bad = rewritten(backup, database=bytes(content), manifest=json.dumps(manifest).encode())
    other = Home(tmp_path / "other", "other words")
    with pytest.raises(VrambleError) as raised:
        restore(bad, other.database, other.settings, now=NOW)
    assert raised.value.code == "backup-damaged"
    assert other.words() == ["other words", "answer"]


def test_a_backup_of_an_earlier_version_is_migrated_when_it_is_opened(home: Home, tmp_path: Path) -> None:
    old = tmp_path / "old" / DATABASE
    opened = open_database(old, NOW, MIGRATIONS[:3])
    opened.db.execute("INSERT INTO conversation (id, title, created, updated) VALUES ('c', 'old', 1, 1)")
    opened.db.close()
    make(tmp_path / "b.zip", old, tmp_path / "none.json", program="0.1", now=NOW)
    restore(tmp_path / "b.zip", home.database, home.settings, now=NOW)
    store = Store.open(home.database)
    assert [one.title for one in store.conversations()] == ["old"]
    store.close()


def test_a_folder_that_cannot_be_written(home: Home, tmp_path: Path) -> None:
    with pytest.raises(VrambleError) as raised:
        make(tmp_path / "gone" / "b.zip", home.database, home.settings, program="1.0", now=NOW)
    assert raised.value.code == "backup-failed"


def test_a_backup_that_is_given_up_leaves_nothing(home: Home, tmp_path: Path) -> None:
    with pytest.raises(VrambleError):
        make(tmp_path / "b.zip", home.database, home.settings, program="1.0", now=NOW, stopped=lambda: True)
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "b.zip"
    os.mkfifo(pipe)
    with pytest.raises(VrambleError) as caught:
        read(pipe)
    assert caught.value.code == "backup-unreadable"


def test_a_pipe_among_what_waits_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "waits").mkdir()
    os.mkfifo(tmp_path / "waits" / MANIFEST)
    assert waiting_in(tmp_path / "waits") is None


def test_settings_that_are_no_file_are_left_out(home: Home, tmp_path: Path) -> None:
    home.settings.unlink()
    home.settings.symlink_to("/dev/null")
    assert set(make(tmp_path / "b.zip", home.database, home.settings, program="1.0", now=NOW).sha256) == {DATABASE}


def test_a_database_with_foreign_triggers_is_not_restored(home: Home, tmp_path: Path) -> None:
    store = Store.open(home.database)
    store.close()
    with closing(sqlite3.connect(home.database)) as db:
        db.execute("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM message; END")
        db.commit()
    target = tmp_path / "foreign.zip"
    make(target, home.database, home.settings, program="1.0", now=NOW)
    with pytest.raises(VrambleError) as told:
        stage(target, tmp_path / "waiting")
    assert "none of this program's" in told.value.detail


def test_what_is_in_use_is_not_replaced(backup: Path, home: Home) -> None:
    """No file of a database that somebody has open is touched, whether or not its log is there."""
    store = Store.open(home.database)
    inode = home.database.stat().st_ino

    with pytest.raises(VrambleError) as told:
        restore(backup, home.database, home.settings, now=NOW)

    assert told.value.code == "restore-waits"
    assert home.database.stat().st_ino == inode
    turn(store, "c", "still", "written")
    store.close()
    assert home.words() == ["hello", "answer", "still", "written"]
    assert apply(home.waiting, home.database, home.settings, now=NOW) is not None
    assert home.words() == ["hello", "answer"]


def test_what_another_start_has_put_in_place(backup: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window that starts between the two steps of a restore does the second one."""

    def stage_and_start(source: Path, waiting: Path) -> object:
        manifest = stage(source, waiting)
        assert apply(waiting, home.database, home.settings, now=NOW) is not None
        return manifest

    monkeypatch.setattr("engine.chat_files.restoring.stage", stage_and_start)
    done = restore(backup, home.database, home.settings, now=NOW)
    assert (done.manifest.conversations, done.kept) == (1, ())
