"""The answers that run: how each begins on disk, and how its end gets there."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.chat import chat_notices
from app.chat.database import ChatDatabase
from app.chat.engine_seam import AnswerEngine
from app.chat.model_choice import DOES_NOT_FIT, Choice
from app.chat.running_answer import RunningAnswer
from app.chat.settings import ChatSettings
from app.chat.unsaved import UnsavedAnswers
from app.notices import Notices
from engine.chat.ids import new_id
from engine.chat.records import AnswerEnd, AnswerStart, Conversation, Message, Thread
from engine.chat.store import Store
from engine.client.session import WorkerState
from engine.errors import VrambleError


class NotStored(NamedTuple):
    """An answer that could not begin: its conversation, why, and the question that belongs back into the composer."""

    conversation: str
    error: VrambleError
    text: str


class Answering(QObject):
    """Runs one answer for each conversation: the store first, then the engine, then the store again. How many the
    engine writes at once is its own affair; the others wait there.

    Args:
        unsaved: Takes the ends of answers.
        choose: The model to load when none is, or why there is none.
        now: Seconds since 1970, for ids.

    Attributes:
        changed: The row of a `RunningAnswer` changed.
        answers_changed: An answer began or ended; `conversations` is another.
        stored: The `Thread` that is answered is on disk.
        refused: `NotStored`.
        ended: An answer ended (`AnswerEnd`, its conversation); it runs no more and is on its way to the disk.
        kept: The `Conversation` of an ended answer as it is on disk now.
        summarised: A summary of the beginning of this conversation is on the disk.
        model_wanted: The user asked to choose a model.
        fit_wanted: The model at this `Path` would answer and would not fit as it is: it has to be prepared first.
    """

    changed = Signal(object)
    answers_changed = Signal()
    stored = Signal(object)
    refused = Signal(object)
    ended = Signal(object, str)
    kept = Signal(object)
    summarised = Signal(str)
    model_wanted = Signal()
    fit_wanted = Signal(object)

    def __init__(
        self,
        engine: AnswerEngine,
        database: ChatDatabase,
        notices: Notices,
        choose: Callable[[], Choice | VrambleError],
        unsaved: UnsavedAnswers,
        now: Callable[[], float] = time.time,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine, self._database, self._notices = engine, database, notices
        self._choose, self._unsaved, self._now = choose, unsaved, now
        self._expected = ""
        self._closed = False
        self._running: dict[str, RunningAnswer] = {}

    @property
    def conversations(self) -> frozenset[str]:
        """Where an answer runs."""
        return frozenset(self._running)

    def of(self, conversation: str | None) -> RunningAnswer | None:
        """The answer that runs in ``conversation``."""
        return None if conversation is None else self._running.get(conversation)

    def can_begin(self, conversation: str | None, *, loads: bool = False) -> bool:
        """Whether ``conversation`` (None: a new one) can be answered now; if not, the user is told why.

        Args:
            loads: Another model is loaded for it, which would end the answers elsewhere.
        """
        if self._closed or self.of(conversation) is not None:
            return False
        if loads and self._running:
            self._notices.post(chat_notices.busy_elsewhere(self.stop_all))
            return False
        return self._has_model()

    def has_loaded(self, model: Path) -> bool:
        """Whether the file ``model`` is loaded."""
        loaded = self._engine.model
        return loaded is not None and loaded.path == str(model)

    def begin(
        self,
        conversation: str,
        settings: ChatSettings,
        work: Callable[[Store, AnswerStart], Thread],
        *,
        text: str = "",
        resumed: Message | None = None,
        model: Choice | None = None,
    ) -> RunningAnswer:
        """Store with ``work`` what is to be answered, then have it answered. Only after `can_begin`.

        Args:
            text: The question, to be given back when it cannot be stored.
            resumed: The answer that goes on; None: a new one.
            model: Loaded first; None: whichever is loaded.
        """
        running, start = self._prepare(conversation, settings, resumed, model)
        self._database.call(lambda store: work(store, start), lambda result: self._take(running, result, text))
        return running

    def expect(self, model: str) -> None:
        """The name of the model that will answer, until one has."""
        self._expected = model
        for running in self._running.values():
            running.expect(model)

    def stop(self, conversation: str | None) -> None:
        """Stop the answer that runs in ``conversation``."""
        running = self.of(conversation)
        if running is not None:
            running.stop()

    def stop_all(self) -> None:
        """Stop the answers of all conversations."""
        for running in tuple(self._running.values()):
            running.stop()

    def close(self) -> None:
        """Save what is being written; nothing begins any more."""
        self._closed = True
        running, self._running = self._running, {}
        for conversation, answer in running.items():
            self._unsaved.save(answer.abandon(), conversation, self._keep)

    def _prepare(
        self, conversation: str, settings: ChatSettings, resumed: Message | None, choice: Choice | None
    ) -> tuple[RunningAnswer, AnswerStart]:
        model = self._engine.model
        name = None if model is None or choice is not None else model.name
        start = AnswerStart(id=new_id(self._now()) if resumed is None else resumed.id, model=name)
        running = RunningAnswer(
            start,
            conversation,
            settings,
            self._engine,
            self._database,
            self._choose,
            self,
            resumed=resumed,
            model=choice,
            summarised=lambda: self.summarised.emit(conversation),
        )
        running.changed.connect(self.changed)
        running.unsaved.connect(self._unsaved.tell)
        running.ended.connect(self._end)
        running.expect(self._expected)
        self._running[conversation] = running
        self.answers_changed.emit()
        return running, start

    def _take(self, running: RunningAnswer, result: Thread | VrambleError, text: str) -> None:
        """The question is on disk (or is not): only now the engine is asked."""
        if self._closed:
            return
        if not isinstance(result, VrambleError):
            self.stored.emit(result)
            running.ask(result)
            return
        self._leave(running)
        running.abandon()
        running.deleteLater()
        self._notices.post(chat_notices.not_saved(result))
        self.refused.emit(NotStored(running.conversation, result, text))

    def _end(self, running: RunningAnswer, end: AnswerEnd) -> None:
        self._leave(running)
        self._notices.withdraw(chat_notices.BUSY)
        self._unsaved.save(end, running.conversation, self._keep)
        running.deleteLater()
        self.ended.emit(end, running.conversation)

    def _leave(self, running: RunningAnswer) -> None:
        del self._running[running.conversation]
        self.answers_changed.emit()

    def _keep(self, conversation: Conversation) -> None:
        self.kept.emit(conversation)

    def _has_model(self) -> bool:
        """Whether a model is loaded, about to be, or can be chosen."""
        engine = self._engine
        coming = engine.state in (WorkerState.STARTING, WorkerState.LOADING)
        reason = None if engine.model or engine.last_load or coming else self._choose()
        if isinstance(reason, VrambleError) and reason.code == DOES_NOT_FIT:
            self.fit_wanted.emit(Path(reason.detail))
            return False
        if isinstance(reason, VrambleError):
            self._notices.post(chat_notices.no_model(reason, self.model_wanted.emit))
            return False
        self._notices.withdraw(chat_notices.NO_MODEL)
        return True
