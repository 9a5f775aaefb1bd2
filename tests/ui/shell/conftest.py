"""The main window over stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from engine.client.session import WorkerState
from tests.ui.shell.standins import HELLO, FakeServices, make_services, model_info
from ui.main_window import MainWindow
from ui.theme import Theme


class Window:
    """A shown main window and what is behind it."""

    def __init__(self, window: MainWindow, services: FakeServices) -> None:
        self.window, self.services = window, services
        self.worker, self.chat, self.library = services.worker, services.chat, services.library

    def find(self, name: str) -> QWidget:
        found = self.window.findChild(QWidget, name)
        assert isinstance(found, QWidget), f"no widget {name}"
        return found

    def button(self, name: str) -> QPushButton:
        found = self.find(name)
        assert isinstance(found, QPushButton)
        return found

    def picked(self) -> str:
        """What the model picker says, uncut."""
        return self.window._header._picker.full_text()

    def load(self) -> None:
        """A model is loaded on a Radeon."""
        self.worker.set_hello(HELLO)
        self.worker.set_model(model_info())
        self.worker.set_state(WorkerState.READY)

    def converse(self) -> None:
        """A conversation with an answer is open."""
        self.load()
        self.chat.fill("What does GTT mean?", "Holiday plan")
        self.chat.open("0")
        self.chat.show("What does GTT mean?", "It is the **graphics translation table**.")


MakeWindow = Callable[..., Window]


@pytest.fixture
def make_window(qtbot: QtBot, theme: Theme) -> Iterator[MakeWindow]:
    made: list[MainWindow] = []

    def make(*models: str, width: int = 1280, height: int = 800, services: FakeServices | None = None) -> Window:
        services = services or make_services(*models)
        window = MainWindow(services, theme, has_starter=services.library.has_starter)  # type: ignore[arg-type]
        made.append(window)
        window.resize(width, height)
        window.show()
        window.activateWindow()
        window.focus()
        qtbot.waitUntil(window.isActiveWindow)
        return Window(window, services)

    yield make
    for window in made:
        window._done = True
        window.close()
        window.deleteLater()
