"""A long answer that ends while nobody looks is told by the desktop."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.chat.summaries import WISH
from app.desktop.service import Note
from app.worker.agenda import Answered
from engine.protocol.frames import Finished, Generate
from engine.protocol.types import ChatMessage, FinishReason, GenerationStats, Sampling
from ui.answer_teller import AnswerTeller, seconds_of
from ui.notify import Notifier

LONG = GenerationStats(generated_tokens=401, decode_tps=20.0, ttft_ms=500)


class Worker(QObject):
    answered = Signal(object)


class Desktop(QObject):
    pressed = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.notes: list[Note] = []

    def notify(self, note: Note) -> None:
        self.notes.append(note)


class World:
    def __init__(self, qtbot: QtBot) -> None:
        self.worker, self.desktop, self.window = Worker(), Desktop(), QWidget()
        qtbot.addWidget(self.window)
        self.looked_at = False
        self.opened: list[str] = []
        rows = (SimpleNamespace(id="c1", title="Holiday plan"),)
        chat: Any = SimpleNamespace(conversations=SimpleNamespace(rows=rows), open=self.opened.append)
        notifier = Notifier(self.desktop, lambda: self.looked_at)  # type: ignore[arg-type]
        self.teller = AnswerTeller(self.worker, chat, notifier, self.window)  # type: ignore[arg-type]
        self.notifier = notifier

    def end(
        self, stats: GenerationStats = LONG, text: str = "It is\ndone.", conversation: str = "c1",
        reason: FinishReason = FinishReason.STOP, asked: str = "Where to?",
    ) -> list[tuple[str, str]]:  # fmt: skip
        messages = (ChatMessage(role="user", content=asked),)
        request = Generate(id=1, messages=messages, sampling=Sampling(), conversation=conversation)
        self.worker.answered.emit(Answered(request, text, Finished(id=1, reason=reason, stats=stats)))
        return [(note.title, note.text) for note in self.desktop.notes]


@pytest.fixture
def world(qtbot: QtBot) -> World:
    return World(qtbot)


def test_it_names_the_conversation_and_begins_the_answer(world: World) -> None:
    assert world.end() == [("Holiday plan", "It is done.")]


def test_a_click_shows_the_conversation(world: World) -> None:
    world.end()
    world.desktop.pressed.emit("answer-c1", "default")
    assert world.opened == ["c1"]
    assert world.window.isVisible()


def test_nobody_is_told_who_looks(world: World) -> None:
    world.looked_at = True
    assert world.end() == []


def test_short_and_cancelled_answers_are_not_told(world: World) -> None:
    assert world.end(GenerationStats(generated_tokens=40, decode_tps=20.0)) == []
    assert world.end(reason=FinishReason.CANCELLED) == []


def test_a_summary_before_an_answer_is_not_told(world: World) -> None:
    assert world.end(text="They spoke of walruses.", asked=WISH) == []
    assert world.end() == [("Holiday plan", "It is done.")]


def test_of_a_temporary_chat_nothing_leaves_the_window(world: World) -> None:
    assert world.end(conversation="", text="secret words") == [("The answer is there", "")]


def test_a_long_text_is_cut(world: World) -> None:
    ((_, text),) = world.end(text="word " * 100)
    assert len(text) == 160
    assert text.endswith("…")


def test_the_time_of_an_answer() -> None:
    assert seconds_of(LONG) == pytest.approx(20.5)
    assert seconds_of(GenerationStats(generated_tokens=1, ttft_ms=300)) == pytest.approx(0.3)
