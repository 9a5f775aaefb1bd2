"""Two starts with one data folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from pytestqt.qtbot import QtBot

from app.paths import Paths, find_paths
from app.wiring import build, ground
from ui.single_instance import SingleInstance, meeting_place

SECOND = """
import os, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from ui.single_instance import SingleInstance
app = QCoreApplication([])
only = SingleInstance(Path(sys.argv[1]), {"XDG_ACTIVATION_TOKEN": "token-7"})
print("first" if only.claim(int(sys.argv[2])) else "second", flush=True)
if sys.argv[3:] == ["die"]:
    os.abort()
"""


def start(place: Path, repository: Path, wait_ms: int = 60_000, *more: str) -> subprocess.Popen[str]:
    environ = {**os.environ, "PYTHONPATH": str(repository)}
    command = [sys.executable, "-c", SECOND, str(place), str(wait_ms), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ)


def test_the_place_is_short_and_of_the_folder(tmp_path: Path) -> None:
    one = meeting_place(tmp_path / "a", {"XDG_RUNTIME_DIR": "/run/user/1000"})
    other = meeting_place(tmp_path / "b", {"XDG_RUNTIME_DIR": "/run/user/1000"})
    assert one != other
    assert len(str(one)) < 90
    assert one.parent == Path("/run/user/1000")
    assert meeting_place(tmp_path, {}).is_absolute()
    inside = meeting_place(tmp_path, {"XDG_RUNTIME_DIR": "/run/user/1000", "FLATPAK_ID": "org.example.Vramble"})
    assert inside.parent == Path("/run/user/1000/app/org.example.Vramble")


def test_the_second_raises_the_first(qtbot: QtBot, tmp_path: Path, repository: Path) -> None:
    first = SingleInstance(tmp_path / "meet", {})
    assert first.claim()
    os.environ.pop("XDG_ACTIVATION_TOKEN", None)
    with qtbot.waitSignal(first.raise_wanted, timeout=60_000):
        second = start(tmp_path / "meet", repository)
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=60_000)
    assert second.stdout is not None
    assert second.stdout.read().strip() == "second"
    second.stdout.close()
    assert os.environ.pop("XDG_ACTIVATION_TOKEN") == "token-7"
    first.release()


def test_one_that_was_killed_holds_nothing(qtbot: QtBot, tmp_path: Path, repository: Path) -> None:
    killed = start(tmp_path / "meet", repository, 60_000, "die")
    assert killed.stdout is not None
    assert killed.stdout.read().strip() == "first"
    killed.stdout.close()
    killed.wait()
    assert (tmp_path / "meet.lock").exists()
    again = SingleInstance(tmp_path / "meet", {})
    assert again.claim()
    other = SingleInstance(tmp_path / "meet2", {})
    assert other.claim()
    other.release()
    again.release()


def test_a_start_waits_for_one_that_is_ending(qtbot: QtBot, tmp_path: Path, repository: Path) -> None:
    first = SingleInstance(tmp_path / "meet", {})
    assert first.claim()
    first.stop_listening()
    second = start(tmp_path / "meet", repository)
    qtbot.wait(300)
    first.release()
    qtbot.waitUntil(lambda: second.poll() is not None, timeout=60_000)
    assert second.stdout is not None
    assert second.stdout.read().strip() == "first"
    second.stdout.close()


def test_where_no_lock_can_be_made_one_starts_alone(tmp_path: Path) -> None:
    nowhere = SingleInstance(tmp_path / "gone" / "meet", {})
    assert nowhere.claim()
    assert not nowhere.beside_another


def test_beside_one_that_hangs_nothing_is_replaced(qapp: object, tmp_path: Path) -> None:
    hangs = SingleInstance(tmp_path / "meet", {})
    assert hangs.claim()
    hangs.stop_listening()
    beside = SingleInstance(tmp_path / "meet", {})
    assert beside.claim(0)
    assert beside.beside_another
    assert not hangs.beside_another
    hangs.release()


def test_a_restore_waits_while_another_process_has_the_folder(qapp: object, tmp_path: Path, monkeypatch) -> None:
    put_in_place: list[Paths] = []
    monkeypatch.setattr(ground, "restore_waiting", put_in_place.append)
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path))
    for alone in (False, True):
        services = build(find_paths(), alone=alone)
        services.shutdown()
        assert len(put_in_place) == alone
