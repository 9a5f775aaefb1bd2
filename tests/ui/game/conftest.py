"""One window with pages, over a chat that is two buttons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMainWindow, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.folders.look import FolderLook
from app.jobs import ThreadExecutor
from app.pad.keyboard import KeyboardMode
from app.pad.service import PadService
from ui.shell.game_shell import GameShell
from ui.theme import Theme


class FakeKeyboard:
    """Notes where it was opened."""

    def __init__(self) -> None:
        self.opened: list[tuple[tuple[int, int, int, int], KeyboardMode]] = []

    def open(self, field: tuple[int, int, int, int], mode: KeyboardMode) -> None:
        self.opened.append((field, mode))


class Stage:
    """The window and what tests do with it."""

    def __init__(self, theme: Theme, home: Path, qtbot: QtBot) -> None:
        self.qtbot, self.theme, self.home = qtbot, theme, home
        self.folders = FolderLook(ThreadExecutor("folders"), home)
        self.window = QMainWindow()
        self.pad = PadService({})
        self.keyboard = FakeKeyboard()
        self.game = GameShell(theme, self.folders, self.pad, self.keyboard, self.window)  # type: ignore[arg-type]
        self.chat = QWidget()
        column = QVBoxLayout(self.chat)
        for name in ("first", "second"):
            button = QPushButton(name)
            button.setObjectName(name)
            column.addWidget(button)
        self.game.take(self.chat, QWidget())
        self.pages = self.game.pages
        self.window.setCentralWidget(self.game)
        self.window.resize(1280, 800)
        self.window.show()
        self.window.activateWindow()
        qtbot.waitUntil(self.window.isActiveWindow, timeout=60_000)

    def find(self, name: str, kind: type[QWidget] = QWidget) -> QWidget:
        found = self.window.findChild(kind, name)
        assert isinstance(found, QWidget), name
        return found

    def shows(self, name: str) -> bool:
        return any(one.isVisible() for one in self.window.findChildren(QWidget, name))

    def focus(self) -> str:
        widget = QApplication.focusWidget()
        return widget.objectName() if widget is not None else ""

    def press(self, *keys: Qt.Key) -> None:
        for key in keys:
            self.qtbot.keyClick(QApplication.focusWidget() or self.window, key)

    def click(self, name: str) -> None:
        self.qtbot.mouseClick(self.find(name), Qt.MouseButton.LeftButton)

    def until(self, ready: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(ready, timeout=60_000)


@pytest.fixture
def stage(theme: Theme, tmp_path: Path, qtbot: QtBot) -> Iterator[Stage]:
    home = tmp_path / "deck"
    home.mkdir()
    made = Stage(theme, home, qtbot)
    yield made
    made.window.close()
    made.folders.shutdown()
    made.window.deleteLater()


class Page(QWidget):
    """A page with one button, as windows are: closed by `close`."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setWindowTitle(f"{name} – Vramble")
        self.button = QPushButton(name)
        self.button.setObjectName(f"{name}-button")
        QVBoxLayout(self).addWidget(self.button)
