"""A controller with a cranked database thread, a scripted engine and a clock moved by hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from app.chat.controller import ChatController
from app.chat.model_choice import Choice
from app.chat.rows import MessageRow
from app.chat.settings import ContextPolicy
from app.jobs import SerialRunner
from app.notices import Notice, Notices
from app.settings.store import SettingsStore
from engine.chat.records import Conversation
from engine.errors import VrambleError
from engine.protocol.types import LoadOptions
from tests.app.chat.cranked import Cranked
from tests.app.chat.scripted_engine import ScriptedEngine, model_info

NO_MODEL = VrambleError("no-model", "No model is loaded.", "Choose one, then send again.")
LONG = "word " * 200
CHOICE = Choice(Path("/models/Chosen.gguf"), LoadOptions(n_ctx=1024))


class Chat:
    """Everything a test of the controller looks at."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "vramble.sqlite3"
        self.database = Cranked()
        self.files = Cranked()
        self.engine = ScriptedEngine()
        self.notices = Notices()
        self.posted: list[Notice] = []
        self.withdrawn: list[str] = []
        self.notices.posted.connect(self.posted.append)
        self.notices.withdrawn.connect(self.withdrawn.append)
        self.settings = SettingsStore(folder / "settings.json", SerialRunner(self.files), self.notices)
        self.choice: Choice | VrambleError = CHOICE
        self.time = 1_700_000_000.0
        self.controller = ChatController(
            self.engine,
            self.path,
            SerialRunner(self.database),
            self.settings,
            self.notices,
            lambda: self.choice,
            self.now,
        )
        fatal = QAbstractItemModelTester.FailureReportingMode.Fatal
        self.testers = [
            QAbstractItemModelTester(model, fatal)
            for model in (self.controller.conversations, self.controller.transcript)
        ]
        self.currents: list[Conversation | None] = []
        self.busies: list[bool] = []
        self.restored: list[str] = []
        self.controller.current_changed.connect(self.currents.append)
        self.controller.busy_changed.connect(self.busies.append)
        self.controller.draft_restored.connect(self.restored.append)

    def now(self) -> float:
        self.time += 0.25
        return self.time

    @property
    def rows(self) -> tuple[MessageRow, ...]:
        return self.controller.transcript.rows

    @property
    def shown(self) -> list[str]:
        return [row.text for row in self.rows]

    @property
    def titles(self) -> list[str]:
        return [conversation.title for conversation in self.controller.conversations.rows]

    @property
    def current(self) -> str:
        current = self.controller.current
        assert current is not None
        return current.id

    def start(self) -> None:
        self.controller.start()
        self.database.drain()

    def say(self, question: str, *answer: str) -> str:
        """One whole turn in the open conversation; its id."""
        assert self.controller.send(question)
        self.database.drain()
        self.engine.asked.say(*answer)
        self.engine.asked.finish()
        self.database.drain()
        return self.current

    def on_disk(self) -> list[tuple[str, str, str]]:
        """(role, status, text) of every message as it lies there."""
        query = (
            "SELECT role, status, content FROM message JOIN part ON part.message = message.id ORDER BY seq, position"
        )
        with closing(sqlite3.connect(self.path)) as db:
            return db.execute(query).fetchall()

    def keys(self) -> list[str]:
        return [notice.key for notice in self.posted]


@pytest.fixture
def chat(qtbot: QtBot, tmp_path: Path) -> Iterator[Chat]:
    world = Chat(tmp_path)
    world.start()
    yield world
    world.controller.close(lambda: None)
    world.database.drain()


@pytest.fixture
def full(chat: Chat) -> Chat:
    """Three turns of which not all fit into the context any more, and the question that follows them."""
    chat.engine.set_model(model_info(n_ctx=4096))
    chat.controller.parameters.change(overflow=ContextPolicy.SUMMARISE, system_prompt="Be brief.")
    for number in range(3):
        chat.say(f"question {number} {LONG}", f"answer {number} {LONG}")
    chat.engine.set_model(model_info(n_ctx=1024))
    return chat
