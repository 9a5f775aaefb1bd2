"""Commands of the chat: conversations, the open one, and the answers that run."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.conversation_list import ConversationListModel
from app.chat.engine_seam import AnswerEngine
from app.chat.keeping import Keeping
from app.chat.model_choice import Choice
from app.chat.parameters import Parameters
from app.chat.parts import ChatParts
from app.chat.presets import Presets
from app.chat.queue import MessageQueue
from app.chat.steering import Steering
from app.chat.summary_care import SummaryCare
from app.chat.transcript import TranscriptModel
from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.chat.records import Conversation, Draft
from engine.chat.temporary import is_temporary
from engine.errors import VrambleError


class ChatController(QObject):
    """Owner of the open conversation and of the running answers.

    A new chat is nothing until its first message is sent; until then ``current`` is None. An answer goes on in its own
    conversation when another one is opened; another can be asked for there meanwhile.

    Args:
        engine: The worker service.
        database: Path of the database.
        runner: The database thread.
        settings: For `ChatSettings`.
        notices: Where refusals and failures are told.
        choose: The model to load when none is, or why there is none (`ModelChoice.choose`).
        choice_of: How a model that was chosen for one answer is loaded (`ModelChoice.of`).
        now: Seconds since 1970.

    Attributes:
        message_wanted: Id of a message of the open conversation that should be shown: it was found by a search.
        current_changed: The `Conversation` that is open now, None for a new chat; also when its title changed.
        busy_changed: Whether an answer for the open conversation is running.
        drafts_loaded: What an earlier run left unsent: `Draft` by conversation, under None that of the new chat.
        draft_restored: Text that was taken and could not be saved; it belongs back into the composer.
        model_wanted: The user asked to choose a model.
        fit_wanted: As `Answering.fit_wanted`.
        listed: Ids of all conversations that there are, once, at the start.
        purged: Ids of conversations that are gone for good.
    """

    message_wanted = Signal(str)
    current_changed = Signal(object)
    busy_changed = Signal(bool)
    drafts_loaded = Signal(object)
    draft_restored = Signal(str)
    model_wanted = Signal()
    fit_wanted = Signal(object)
    listed = Signal(object)
    purged = Signal(object)

    def __init__(
        self,
        engine: AnswerEngine,
        database: Path,
        runner: SerialRunner,
        settings: SettingsStore,
        notices: Notices,
        choose: Callable[[], Choice | VrambleError],
        now: Callable[[], float] = time.time,
        parent: QObject | None = None,
        choice_of: Callable[[Path], Choice] | None = None,
    ) -> None:
        super().__init__(parent)
        self._busy = False
        self._parts = ChatParts(engine, database, runner, settings, notices, choose, now, choice_of, self)
        self._open, self._answering = self._parts.open, self._parts.answering
        self._connect()

    def _connect(self) -> None:
        parts = self._parts
        self._open.place.changed.connect(self.current_changed)
        self._open.moved.connect(self._update_busy)
        self._open.message_wanted.connect(self.message_wanted)
        self._answering.answers_changed.connect(self._update_busy)
        self._answering.model_wanted.connect(self.model_wanted)
        self._answering.fit_wanted.connect(self.fit_wanted)
        parts.deletions.purged.connect(self.purged)
        parts.drafts.loaded.connect(self.drafts_loaded)
        parts.sending.restored.connect(self.draft_restored)
        parts.shelf.listed.connect(self.listed)

    @property
    def conversations(self) -> ConversationListModel:
        """The list, newest first."""
        return self._parts.conversations

    @property
    def transcript(self) -> TranscriptModel:
        """The messages of the open conversation."""
        return self._parts.transcript

    @property
    def steering(self) -> Steering:
        """Commands on messages."""
        return self._parts.steering

    @property
    def summaries(self) -> SummaryCare:
        """Commands on summaries of what does not fit any more."""
        return self._parts.summaries

    @property
    def parameters(self) -> Parameters:
        """What answers are made with."""
        return self._parts.parameters

    @property
    def queue(self) -> MessageQueue:
        """Messages that wait for an answer."""
        return self._parts.sending.queue

    @property
    def keeping(self) -> Keeping:
        """Search, folders, titles, exports and imports."""
        return self._parts.keeping

    @property
    def presets(self) -> Presets:
        """Named sets of parameters."""
        return self._parts.presets

    @property
    def current(self) -> Conversation | None:
        """The open conversation; None for a new chat."""
        return self._open.place.record

    @property
    def temporary(self) -> bool:
        """Whether nothing of the open conversation, or of the new chat, is written to the disk."""
        return self._open.place.temporary or is_temporary(self._open.place.id)

    @property
    def busy(self) -> bool:
        """Whether an answer for the open conversation is running."""
        return self._busy

    def start(self) -> None:
        """Open the database, list the conversations, read the drafts. Commands given earlier wait for it too."""
        self._parts.start()

    def new_conversation(self, *, temporary: bool = False) -> None:
        """Go to an empty chat. There is only one: it becomes a conversation with its first message. A ``temporary``
        one is never written to the disk.
        """
        self._open.leave(temporary=temporary)

    def open(self, conversation: str, message: str | None = None) -> None:
        """Show a conversation, at ``message``. A running answer goes on where it belongs."""
        if message is None:
            self._open.open(conversation)
        else:
            self._open.open_at(conversation, message)

    def rename(self, conversation: str, title: str) -> None:
        """Give a title; a blank one brings the automatic one back."""
        self._parts.shelf.rename(conversation, title)

    def delete(self, conversation: str) -> None:
        """Delete with a way back; an answer that runs in it is stopped first."""
        self._parts.shelf.delete(conversation)

    def undo_delete(self, conversation: str = "") -> None:
        """Bring a deleted conversation back, by default the last one; it is opened if it was open."""
        self._parts.shelf.undo_delete(conversation)

    def keep_draft(self, conversation: str | None, draft: Draft) -> None:
        """Save what is typed but not sent in ``conversation`` (None: the new chat), at most once a second."""
        self._parts.sending.keep_draft(conversation, draft)

    def send(self, text: str) -> bool:
        """Ask ``text`` in the open conversation; false: it was not taken and stays in the composer (`Sending.send`)."""
        return self._parts.sending.send(text)

    def expect_model(self, name: str) -> None:
        """Which model is being loaded, or comes back with the next message ("" none): until then it is the author."""
        self._answering.expect(name)

    def stop(self) -> None:
        """Stop the answer of the open conversation; what was written stays."""
        self._answering.stop(self._open.place.id)

    def stop_any(self) -> None:
        """Stop the answers that are written, in whichever conversations; what was written stays."""
        self._answering.stop_all()

    def regenerate(self, message: str = "", model: Path | None = None) -> None:
        """Answer again, as another version: the answer ``message``, by default the last one."""
        self._parts.steering.regenerate(message, model)

    def show_version(self, message: str, step: int) -> None:
        """Show the next (+1) or the previous (-1) version of a message. Not while an answer is written here."""
        self._parts.steering.show_version(message, step)

    def close(self, done: Callable[[], None]) -> None:
        """Save what is being written, remove what was deleted, close the database; then ``done``."""
        self._parts.close(done)

    def _update_busy(self) -> None:
        busy = self._answering.of(self._open.place.id) is not None
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)
