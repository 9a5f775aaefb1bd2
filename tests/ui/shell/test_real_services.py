"""The window over the real services; only the worker process plays a script."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.paths import Paths, find_paths
from app.services import Services
from app.wiring import build
from engine.chat.records import Status
from engine.client.session import WorkerState
from tests.fakes.fake_worker import worker_command
from tests.fakes.tiny_gguf import tiny_llama
from ui.main_window import MainWindow
from ui.theme import Theme


class Program:
    """One run of everything but the event loop's owner."""

    def __init__(self, qtbot: QtBot, theme: Theme, starter: bool = False) -> None:
        self._qtbot, self._over = qtbot, False
        self.services: Services = build(find_paths())
        self.window = MainWindow(self.services, theme, has_starter=starter)
        self.window.begin()
        self.window.show()
        self.window.activateWindow()
        self.window.focus()
        self.services.begin()
        self.wait(lambda: not self.services.library.scanning)

    def wait(self, ready: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(ready, timeout=60_000)

    def find(self, name: str) -> QWidget:
        found = self.window.findChild(QWidget, name)
        assert isinstance(found, QWidget)
        return found

    def choose(self, name: str) -> None:
        picker = self.find("modelPicker")
        assert isinstance(picker, QPushButton)
        self._qtbot.mouseClick(picker, Qt.MouseButton.LeftButton)
        self.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        next(a for a in menu.actions() if name in a.text()).trigger()
        menu.close()
        self.window.activateWindow()
        self.wait(self.window.isActiveWindow)
        self.wait(lambda: self.services.worker.state is WorkerState.READY)

    def send(self, text: str) -> None:
        composer = self.find("composer")
        self._qtbot.keyClicks(composer, text)
        self._qtbot.keyClick(composer, Qt.Key.Key_Return)

    def texts(self) -> list[str]:
        return [row.text for row in self.services.chat.transcript.rows]

    def status(self) -> Status | None:
        rows = self.services.chat.transcript.rows
        return rows[-1].status if rows else None

    def focus(self) -> str:
        """Name of the widget that has the focus whenever the window is the active one."""
        widget: QWidget | None = self.window.focusWidget()
        return widget.objectName() if widget is not None else ""

    def notices(self) -> list[str]:
        return [card.text for card in self.window._notice_bar.cards]

    def quit(self) -> None:
        closed: list[None] = []
        self.window.closed.connect(lambda: closed.append(None))
        self.window.close()
        self.wait(lambda: bool(closed))
        self.end()

    def end(self) -> None:
        """Everything is over; a second time changes nothing."""
        if not self._over:
            self._over = True
            self.services.shutdown()
            self.window.deleteLater()


@pytest.fixture
def paths() -> Paths:
    """The folders, with one small model installed."""
    paths = find_paths()
    folder = paths.models / "owner" / "repo"
    folder.mkdir(parents=True)
    (folder / "Tiny-F32.gguf").write_bytes(tiny_llama(name="Tiny"))
    return paths


Start = Callable[..., Program]


@pytest.fixture
def start(qtbot: QtBot, theme: Theme, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    running: list[Program] = []

    def begin(**script: Any) -> Program:
        monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command(script, tmp_path))
        running.append(Program(qtbot, theme))
        return running[-1]

    yield begin
    for program in running:
        program.end()


def test_choose_send_read_quit_and_come_back(paths: Paths, start: Start) -> None:
    program = start(generate={"text": "Hello **you**.", "delay": 0.001})
    program.wait(lambda: "Fake Radeon" in program.find("deviceLabel").full_text())  # type: ignore[attr-defined]
    program.choose("Tiny")
    program.send("Hi there")
    program.wait(lambda: len(program.texts()) == 2 and program.status() is Status.DONE)
    assert program.texts() == ["Hi there", "Hello **you**."]
    assert program.focus() == "composer"
    program.wait(lambda: program.find("sendButton").isVisible())
    assert program.notices() == []
    program.quit()

    again = start(generate={"text": "Still here."})
    again.wait(lambda: again.texts() == ["Hi there", "Hello **you**."])
    assert again.window.windowTitle() == "Hi there – Vramble"
    again.send("And now?")
    again.wait(lambda: len(again.texts()) == 4 and again.status() is Status.DONE)
    assert again.texts()[3] == "Still here."
    again.quit()


def test_two_answers_at_once_and_escape_stops_the_one_that_is_seen(paths: Paths, start: Start, qtbot: QtBot) -> None:
    program = start(generate={"text": "word " * 200_000, "delay": 0.002})
    program.choose("Tiny")
    program.send("First")
    program.wait(lambda: len(program.texts()) == 2 and len(program.texts()[1]) > 20)
    assert program.find("stopButton").isVisible()
    qtbot.mouseClick(program.find("newChatButton"), Qt.MouseButton.LeftButton)
    program.wait(lambda: program.texts() == [])
    assert program.find("sendButton").isVisible()
    program.send("Second")
    program.wait(lambda: len(program.texts()) == 2 and len(program.texts()[1]) > 20)
    assert program.notices() == []
    first = next(row for row in program.services.chat.conversations.rows if row.title == "First")
    program.services.chat.open(first.id)
    program.wait(lambda: program.texts()[:1] == ["First"])
    seen = len(program.texts()[1])
    program.wait(lambda: len(program.texts()[1]) > seen)
    qtbot.keyClick(program.find("composer"), Qt.Key.Key_Escape)
    program.wait(lambda: program.status() is Status.STOPPED)
    program.wait(lambda: program.find("sendButton").isVisible())
    assert program.services.worker.state is WorkerState.GENERATING, "the other one goes on"
    assert program.texts()[0] == "First"
    program.quit()


def test_a_worker_that_dies_is_told_and_comes_back(paths: Paths, start: Start) -> None:
    program = start(runs=[{"generate": {"text": "one two " * 500, "delay": 0.002}}, {"generate": {"text": "Back."}}])
    program.choose("Tiny")
    program.send("Go")
    program.wait(lambda: len(program.texts()) == 2 and len(program.texts()[1]) > 20)
    assert program.services.worker.pid is not None
    os.kill(program.services.worker.pid, signal.SIGKILL)
    program.wait(lambda: program.status() is Status.FAILED)
    program.wait(lambda: bool(program.notices()))
    assert program.texts()[1].startswith("one two")
    program.send("Again")
    program.wait(lambda: len(program.texts()) == 4 and program.status() is Status.DONE)
    assert program.texts()[3] == "Back."
    program.quit()


def test_a_load_that_fails_leaves_a_way_on(paths: Paths, start: Start) -> None:
    failure = {"code": "not-gguf", "message": "The file is damaged.", "next_step": "Get it again."}
    program = start(load={"after": 1, "fail": failure})
    program.window._model_actions.load(program.services.library.models[0].path)
    program.wait(lambda: bool(program.notices()))
    assert program.notices() == ["The file is damaged. Get it again."]
    assert program.window._header._picker.full_text() == "Choose a model"
    program.quit()


def test_delete_and_undo_with_the_real_store(paths: Paths, start: Start, qtbot: QtBot) -> None:
    program = start(generate={"text": "Yes."})
    program.choose("Tiny")
    for text in ("One", "Two"):
        program.send(text)
        program.wait(lambda: len(program.texts()) == 2 and program.status() is Status.DONE)
        qtbot.mouseClick(program.find("newChatButton"), Qt.MouseButton.LeftButton)
    titles = lambda: [row.title for row in program.services.chat.conversations.rows]  # noqa: E731
    program.wait(lambda: titles() == ["Two", "One"])
    program.services.chat.open(program.services.chat.conversations.rows[0].id)
    view = program.find("conversationList")
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Delete)
    program.wait(lambda: titles() == ["One"])
    program.wait(lambda: program.texts()[:1] == ["One"])
    assert program.focus() == "conversationList"
    (card,) = program.window._notice_bar.cards
    card.notice.actions[0].run()
    program.wait(lambda: titles() == ["Two", "One"])
    program.quit()


def test_nothing_installed_shows_the_first_page(start: Start) -> None:
    program = start()
    program.wait(lambda: program.find("findModelButton").isVisible())
    assert program.window.shows_first_run
    program.quit()
