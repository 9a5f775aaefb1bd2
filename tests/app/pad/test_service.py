"""Pads as signals from the real child; the command that opens Steam's keyboard."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.notices import Notice, Notices
from app.pad.keyboard import KeyboardMode, SteamKeyboard, address_of, command_for
from app.pad.service import PadService
from tests.fakes.pad import FakePad

LIMIT_MS = 60_000


@pytest.fixture
def pad(tmp_path: Path) -> Iterator[FakePad]:
    made = FakePad(tmp_path)
    yield made
    made.close()


def test_presses_arrive_in_order(tmp_path: Path, pad: FakePad, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pad.service.END_MS", LIMIT_MS)
    pressed: list[str] = []
    service = PadService({**os.environ, "VRAMBLE_SYSROOT": str(tmp_path)})
    service.pressed.connect(pressed.append)
    service.start()
    service.start()
    qtbot.waitUntil(lambda: service.pads == 1, timeout=LIMIT_MS)
    pad.press("a", "b", "l1")
    qtbot.waitUntil(lambda: pressed == ["a", "b", "l1"], timeout=LIMIT_MS)
    service.shutdown()
    assert service._process is None
    assert service.pads == 0
    service.start()
    assert service._process is None


def test_a_child_that_cannot_start_is_tried_again_a_few_times(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pad.service.module_command", lambda _name: ["/nowhere/python"])
    monkeypatch.setattr("app.pad.service.AGAIN_MS", 0)
    service = PadService({})
    service.start()
    qtbot.waitUntil(lambda: service._starts == 5 and service._process is None, timeout=LIMIT_MS)
    qtbot.wait(1)
    assert service._starts == 5


def test_steam_is_asked_for_its_keyboard() -> None:
    address = address_of((10, 700, 800, 46), KeyboardMode.LINES)
    assert address == "steam://open/keyboard?XPosition=10&YPosition=700&Width=800&Height=46&Mode=1"
    assert command_for(address, {}) == ["steam", "-ifrunning", address]
    assert command_for(address, {"FLATPAK_ID": "x"}) == ["xdg-open", address]


def fake_steam(folder: Path, code: int) -> None:
    script = folder / "steam"
    script.write_text(f'#!/bin/sh\necho "$2 [$LD_PRELOAD]" > {folder}/asked\nexit {code}\n')
    script.chmod(0o755)


@pytest.mark.parametrize("code", [0, 1])
def test_it_is_told_when_the_keyboard_does_not_come(
    tmp_path: Path, qtbot: QtBot, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_steam(tmp_path, code)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    posted: list[Notice] = []
    notices = Notices()
    notices.posted.connect(posted.append)
    keyboard = SteamKeyboard({**os.environ, "LD_PRELOAD": ""}, notices)
    keyboard.open((1, 2, 3, 4), KeyboardMode.ONE_LINE)
    qtbot.waitUntil(lambda: not keyboard.busy, timeout=LIMIT_MS)
    assert (tmp_path / "asked").read_text().startswith("steam://open/keyboard?XPosition=1")
    assert [notice.text for notice in posted] == (
        ["Steam's keyboard did not open. The Steam button with X opens it."] if code else []
    )


def test_without_steam_the_way_is_told(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.pad.keyboard.command_for", lambda *_what: ["/nowhere/steam"])
    posted: list[Notice] = []
    notices = Notices()
    notices.posted.connect(posted.append)
    keyboard = SteamKeyboard({}, notices)
    keyboard.open((1, 2, 3, 4), KeyboardMode.NUMBER)
    qtbot.waitUntil(lambda: len(posted) == 1 and not keyboard.busy, timeout=LIMIT_MS)


def test_a_steam_that_does_not_answer_can_be_asked_again(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    sleeper = [sys.executable, "-c", "import time; time.sleep(3600)"]
    monkeypatch.setattr("app.pad.keyboard.command_for", lambda *_what: sleeper)
    monkeypatch.setattr("app.pad.keyboard.ANSWER_MS", 1)
    posted: list[Notice] = []
    notices = Notices()
    notices.posted.connect(posted.append)
    keyboard = SteamKeyboard(os.environ, notices)
    for count in (1, 2):
        keyboard.open((1, 2, 3, 4), KeyboardMode.NUMBER)
        assert keyboard.busy
        qtbot.waitUntil(lambda: not keyboard.busy, timeout=LIMIT_MS)
        assert len(posted) == count
