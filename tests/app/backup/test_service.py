"""The backup service: a backup, a restore that waits, what is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.backup.service import BackupService, hold_data, places, restore_waiting, restored_notice
from app.notices import Severity
from app.paths import Paths
from engine.chat.file_locks import replacing
from engine.chat.store import Store
from engine.chat_files.backup import Manifest, make
from engine.chat_files.restoring import Restored, stage
from engine.errors import VrambleError
from tests.app.chat.cranked import Cranked
from tests.engine.chat.support import texts, turn


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    store = Store.open(found.database)
    turn(store, "c", "hello", "there")
    store.close()
    return found


def is_busy(service: BackupService) -> bool:
    return service.busy


def waits(service: BackupService) -> bool:
    return service.waiting is not None


def test_backup_then_restore_at_the_next_start(qtbot: QtBot, paths: Paths, tmp_path: Path) -> None:
    work = Cranked()
    service = BackupService(paths, work)
    results: list[Manifest | VrambleError] = []
    target = tmp_path / "b.zip"
    assert service.back_up(target, results.append)
    assert is_busy(service)
    assert not service.back_up(target, results.append)
    work.drain()
    assert not is_busy(service)
    store = Store.open(paths.database)
    turn(store, "c", "later", "words")
    store.close()
    assert service.restore(target, results.append)
    work.drain()
    assert service.waiting == results[0]
    assert restore_waiting(paths) is not None
    store = Store.open(paths.database)
    assert texts(store, "c") == ["hello", "there"]
    store.close()
    assert restore_waiting(paths) is None
    service.look()
    work.drain()
    assert not waits(service)
    service.shutdown()


def test_a_restore_can_be_given_up(qtbot: QtBot, paths: Paths, tmp_path: Path) -> None:
    work = Cranked()
    service = BackupService(paths, work)
    target = tmp_path / "b.zip"
    service.back_up(target, lambda _result: None)
    service.restore(target, lambda _result: None)
    work.drain()
    service.restore(target, lambda _result: None)
    work.drain()
    assert waits(service)
    service.give_up()
    work.drain()
    assert not waits(service)
    assert restore_waiting(paths) is None
    service.shutdown()


def test_what_is_no_backup_is_told(qtbot: QtBot, paths: Paths, tmp_path: Path) -> None:
    work = Cranked()
    service = BackupService(paths, work)
    results: list[Manifest | VrambleError] = []
    (tmp_path / "x.zip").write_text("no")
    service.restore(tmp_path / "x.zip", results.append)
    work.drain()
    (result,) = results
    assert isinstance(result, VrambleError)
    assert not waits(service)
    assert restored_notice(result).severity is Severity.ERROR
    service.shutdown()


def test_nothing_takes_the_place_of_what_a_window_has(paths: Paths, tmp_path: Path) -> None:
    service = BackupService(paths, Cranked(), hold=hold_data(paths))
    stage(backup_of(paths, tmp_path), places(paths).waiting)

    told = restore_waiting(paths)

    assert isinstance(told, VrambleError)
    assert told.code == "restore-waits"
    assert restored_notice(told).severity is Severity.ERROR
    service.shutdown()
    assert isinstance(restore_waiting(paths), Restored)


def test_a_window_in_a_folder_that_is_not_there_yet_holds_it(tmp_path: Path) -> None:
    paths = Paths(tmp_path / "data", tmp_path / "config", tmp_path / "cache", tmp_path / "state")
    hold = hold_data(paths)
    with replacing(paths.database) as alone:
        assert not alone
    hold.release()
    with replacing(paths.database) as alone:
        assert alone


def backup_of(paths: Paths, folder: Path) -> Path:
    target = folder / "b.zip"
    make(target, paths.database, paths.settings, program="1", now=0.0)
    return target
