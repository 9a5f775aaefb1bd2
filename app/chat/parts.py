"""What the chat consists of, put together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from app.chat import chat_notices
from app.chat.answering import Answering
from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.deletions import Deletions
from app.chat.drafts import Drafts
from app.chat.engine_seam import AnswerEngine
from app.chat.keeping import Keeping
from app.chat.model_choice import DOES_NOT_FIT, Choice
from app.chat.open_thread import OpenThread
from app.chat.parameters import Parameters
from app.chat.presets import Presets
from app.chat.sending import Sending
from app.chat.shelf import Shelf
from app.chat.steering import Steering
from app.chat.summary_care import SummaryCare
from app.chat.transcript import TranscriptModel
from app.chat.unsaved import UnsavedAnswers
from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.errors import VrambleError


class ChatParts(QObject):
    """Builds each part and hands it to those that need it. Arguments as in `ChatController`."""

    def __init__(
        self,
        engine: AnswerEngine,
        path: Path,
        runner: SerialRunner,
        settings: SettingsStore,
        notices: Notices,
        choose: Callable[[], Choice | VrambleError],
        now: Callable[[], float],
        choice_of: Callable[[Path], Choice] | None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._engine, self._notices, self._choose = engine, notices, choose
        self.database = ChatDatabase(path, runner, now)
        self.conversations = ConversationListModel(now, self)
        self.transcript = TranscriptModel(self)
        self.unsaved = UnsavedAnswers(self.database, notices, self)
        self.deletions = Deletions(self.database, self._tell_failure, self)
        self.drafts = Drafts(self.database, self._tell_drafts, self)
        self.answering = Answering(engine, self.database, notices, choose, self.unsaved, now, self)
        self.parameters = Parameters(settings, self._save_parameters, self._model_file, self)
        self.presets = Presets(settings, runner, self)
        self.open = self._make_open()
        self.shelf = self._make_shelf()
        self.sending = Sending(self.open, self.answering, self.parameters, self.drafts, now, self)
        self.steering = Steering(
            self.open, self.answering, self.database, self.parameters, notices, choice_of, now, self
        )
        self.summaries = SummaryCare(self.open, self.answering, self.database, self.parameters, engine, notices, self)
        self.keeping = self._make_keeping(path, runner, settings, now)
        self.deletions.purged.connect(self.keeping.upkeep.purged)
        self.answering.ended.connect(self.keeping.titling.answered)
        engine.model_changed.connect(lambda _model: self.parameters.changed.emit())

    def start(self) -> None:
        """Open the database, list the conversations, read the drafts."""
        self.shelf.start()
        self.drafts.load()
        self.keeping.start()

    def close(self, done: Callable[[], None]) -> None:
        """Save what is being written, remove what was deleted, close the database; then ``done``."""
        self.sending.close()
        self.shelf.close()
        self.keeping.close()
        self.unsaved.retry()
        self.unsaved.timer.stop()
        self.drafts.close()
        self.parameters.close()
        self.answering.close()
        self.summaries.stop()
        self.steering.close()
        self.deletions.purge()
        self.database.close(done)

    def _make_open(self) -> OpenThread:
        return OpenThread(
            self.conversations,
            self.transcript,
            self.database,
            self.answering,
            self.unsaved,
            self.deletions,
            self.parameters,
            self._tell_failure,
            self,
        )

    def _make_shelf(self) -> Shelf:
        return Shelf(
            self.conversations,
            self.open,
            self.answering,
            self.deletions,
            self.database,
            self._notices,
            self._tell_failure,
            self,
        )

    def _make_keeping(
        self, path: Path, runner: SerialRunner, settings: SettingsStore, now: Callable[[], float]
    ) -> Keeping:
        return Keeping(
            self.conversations,
            self.database,
            path,
            runner,
            settings,
            self.open.keep,
            self._tell_failure,
            now,
            self,
        )

    def _save_parameters(self, conversation: str, settings: str | None) -> None:
        self.database.call(lambda store: store.set_settings(conversation, settings), self.shelf.take)

    def _model_file(self) -> str:
        """The model that answers next, as far as it is known."""
        engine = self._engine
        if engine.model is not None:
            return engine.model.path
        if engine.last_load is not None:
            return str(engine.last_load[0])
        choice = self._choose()
        if isinstance(choice, VrambleError):
            return choice.detail if choice.code == DOES_NOT_FIT else ""
        return str(choice.path)

    def _tell_drafts(self, error: VrambleError | None) -> None:
        if error is None:
            self._notices.withdraw(chat_notices.DRAFT)
        else:
            self._notices.post(chat_notices.draft_not_saved(error))

    def _tell_failure(self, error: VrambleError) -> None:
        self._notices.post(chat_notices.not_opened(error))
