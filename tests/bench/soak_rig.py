"""Hours of streaming without waiting: the chat, its store and its transcript with a clock that is moved by hand."""

from __future__ import annotations

import gc
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QTimer
from PySide6.QtGui import QTextLayout
from shiboken6 import isValid

from app.chat.controller import ChatController
from app.chat.model_choice import Choice
from app.chat.running_answer import RunningAnswer
from app.collector import LOOK_MS, GuiThreadCollector
from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.protocol.types import LoadOptions
from tests.app.chat.cranked import Cranked
from tests.app.chat.scripted_engine import Asked, ScriptedEngine
from ui.chat.transcript.message import Message
from ui.chat.transcript.part_view import PartView
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme

FRAME_MS = 33
TOKENS_PER_SECOND = 100
TURNS = 8
"""Answers in one conversation before the next one begins."""
BLOCK = 200
"""Tokens after which the shape of the text comes again."""
IDLE_FRAMES = 2000
SELDOM_MS = 60_000
"""Timers with such an interval run as long as the program does."""
COUNTED = (QObject, QTimer, QTextLayout, PartView, Message, RunningAnswer)


def token(number: int) -> str:
    """Token ``number`` of the whole run: paragraphs, a code block, a list and a table, each word with its number."""
    word, at = f"t{number}", number % BLOCK
    if at < 100:
        return f"**{word}** " if at % 10 == 5 else word + ("\n\n" if at % 50 == 49 else " ")
    if at < 140:
        return ("```python\n" if at == 100 else "") + f"{word} = 1" + ("\n```\n\n" if at == 139 else "\n")
    if at < 180:
        return f"- {word}\n" + ("\n" if at == 179 else "")
    head = "| a |\n|---|\n" if at == 180 else ""
    return f"{head}| {word} |\n" + ("\n" if at == BLOCK - 1 else "")


class ForgetfulEngine(ScriptedEngine):
    """Keeps only what was asked last, as the real service does."""

    @property
    def asked(self) -> Asked:
        """The last `generate`."""
        last = self.log.generated[-1]
        del self.log.generated[:]
        return last


class Clock(QObject):
    """Fires timers by simulated time; Qt's own event loop never runs meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.ms = 0.0
        self._due: dict[QTimer, float] = {}

    def step(self, roots: tuple[QObject, ...], ms: float) -> int:
        """``ms`` later: fire what is due. Returns how many timers wait."""
        self.ms += ms
        for timer, due in list(self._due.items()):
            if not isValid(timer) or not timer.isActive():
                del self._due[timer]
            elif due <= self.ms:
                del self._due[timer]
                if timer.isSingleShot():
                    timer.stop()
                timer.timeout.emit()
        waiting = [timer for root in roots for timer in root.findChildren(QTimer) if timer.isActive()]
        for timer in waiting:
            self._due.setdefault(timer, self.ms + timer.interval())
        return sum(timer.interval() < SELDOM_MS for timer in waiting)


class Soak:
    """Questions and answers one after the other, every timer by simulated time, every frame painted.

    Args:
        folder: For the database and the settings.
        answer_tokens: Tokens of one answer.
        frame_ms: Simulated time between two frames; with more of it there are fewer paints for each token.
    """

    def __init__(self, folder: Path, theme: Theme, *, answer_tokens: int = 500, frame_ms: int = FRAME_MS) -> None:
        self.path = folder / "vramble.sqlite3"
        self.tokens = self.frames = self.answers = 0
        self._answer_tokens, self._frame_ms = answer_tokens, frame_ms
        self._collector = GuiThreadCollector()
        self._collected = 0.0
        self._clock, self._database, self._files = Clock(), Cranked(), Cranked()
        self._engine, self._notices = ForgetfulEngine(), Notices()
        settings = SettingsStore(folder / "settings.json", SerialRunner(self._files), self._notices)
        choice = Choice(Path("/models/Chosen.gguf"), LoadOptions())
        self.chat = ChatController(
            self._engine, self.path, SerialRunner(self._database), settings, self._notices, lambda: choice, self._now
        )
        self.view = TranscriptView(self.chat.transcript, theme)
        self.view.resize(1020, 660)
        self.view.show()
        self.chat.start()
        self._database.drain()

    def _now(self) -> float:
        return 1_700_000_000.0 + self._clock.ms / 1000

    def turn(self) -> None:
        """One question with its whole answer; after `TURNS` of them in a new conversation."""
        if self.answers % TURNS == 0:
            self.chat.new_conversation()
        if not self.chat.send(f"Question {self.answers}"):
            raise AssertionError("the question was not taken")
        self._database.drain()
        asked, debt = self._engine.asked, 0.0
        for _ in range(self._answer_tokens):
            asked.say(token(self.tokens))
            self.tokens += 1
            debt += 1000 / TOKENS_PER_SECOND
            if debt >= self._frame_ms:
                self.frame(debt)
                debt = 0.0
        asked.finish(generated_tokens=self._answer_tokens)
        self.answers += 1
        self.settle()

    def frame(self, ms: float = FRAME_MS) -> int:
        """The next frame: timers, the store, what was deleted, a paint. Returns how many timers wait."""
        self.frames += 1
        waiting = self._clock.step((self.chat, self.view), ms)
        self._database.drain()
        self._files.drain()
        QCoreApplication.sendPostedEvents()  # all kinds: after one kind alone Qt keeps the places of those delivered
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        self.view.viewport().repaint()
        if self._clock.ms - self._collected >= LOOK_MS:
            self._collected = self._clock.ms
            self._collector.look()
        return waiting

    def settle(self) -> None:
        """Frames until no timer waits any more."""
        for _ in range(IDLE_FRAMES):
            if not self.frame():
                return
        left = [
            (t.parent(), t.interval(), t.isSingleShot())
            for r in (self.chat, self.view)
            for t in r.findChildren(QTimer)
            if t.isActive()
        ]
        raise AssertionError(f"timers that never stop: {left}")

    def open(self, conversation: str) -> None:
        """Go to a conversation that is there already."""
        self.chat.open(conversation)
        self._database.drain()
        self.settle()

    def live(self) -> dict[str, int]:
        """What lives while no conversation is open, by kind."""
        self.chat.new_conversation()
        self.settle()
        gc.collect()
        found: Counter[str] = Counter()
        for thing in gc.get_objects():
            for kind in COUNTED:
                if issubclass(type(thing), kind):  # not isinstance: it asks dead proxies
                    found[kind.__name__] += 1
        for name, root in (("chat", self.chat), ("view", self.view)):
            found[f"in the {name}"] = len(root.findChildren(QObject))
        return dict(found)

    def stored(self) -> Iterator[str]:
        """The answers as they lie on the disk, oldest first."""
        query = (
            "SELECT content FROM message JOIN part ON part.message = message.id"
            " WHERE role = 'assistant' AND status = 'done' ORDER BY message.id, position"
        )
        with closing(sqlite3.connect(self.path)) as db:
            yield from (text for (text,) in db.execute(query))

    def close(self) -> None:
        """End the chat."""
        self.chat.close(lambda: None)
        self._database.drain()
        self.view.deleteLater()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
