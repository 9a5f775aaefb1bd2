"""Commands of the chat: conversations, the open one, and the one answer that runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat import chat_notices
from app.chat.answering import Answering, NotStored
from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.deletions import Deletions
from app.chat.drafts import Drafts
from app.chat.engine_seam import AnswerEngine
from app.chat.model_choice import Choice
from app.chat.open_thread import OpenThread
from app.chat.parameters import Parameters
from app.chat.presets import Presets
from app.chat.queue import MessageQueue
from app.chat.rows import YOU, MessageRow
from app.chat.steering import Steering
from app.chat.transcript import TranscriptModel
from app.chat.unsaved import UnsavedAnswers
from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.chat.ids import new_id
from engine.chat.records import AnswerEnd, Conversation, Draft, Question, Role, Status
from engine.chat.store import Store
from engine.chat.text import clean
from engine.errors import VrambleError

DAY_LOOK_MS = 600_000


class ChatController(QObject):
    """Owner of the open conversation and of the running answer.

    A new chat is nothing until its first message is sent; until then ``current`` is None. One
    answer runs at a time; it goes on in its own conversation when another one is opened.

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
        current_changed: The `Conversation` that is open now, None for a new chat; also when its title changed.
        busy_changed: Whether an answer for the open conversation is running.
        drafts_loaded: What an earlier run left unsent: `Draft` by conversation, under None that of the new chat.
        draft_restored: Text that was taken and could not be saved; it belongs back into the composer.
        model_wanted: The user asked to choose a model.
        listed: Ids of all conversations that there are, once, at the start.
        purged: Ids of conversations that are gone for good.
    """

    current_changed = Signal(object)
    busy_changed = Signal(bool)
    drafts_loaded = Signal(object)
    draft_restored = Signal(str)
    model_wanted = Signal()
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
        self._engine, self._notices, self._choose, self._now = engine, notices, choose, now
        self._database = ChatDatabase(database, runner, now)
        self._conversations = ConversationListModel(now, self)
        self._transcript = TranscriptModel(self)
        self._busy = self._closing = False
        self._unsaved = UnsavedAnswers(self._database, notices, self)
        self._deletions = Deletions(self._database, self._tell_failure, self)
        self._deletions.purged.connect(self.purged)
        self._drafts = Drafts(self._database, self._tell_drafts, self)
        self._drafts.loaded.connect(self.drafts_loaded)
        self._answering = Answering(engine, self._database, notices, choose, self._unsaved, now, self)
        self._parameters = Parameters(settings, self._save_parameters, self._model_file, self)
        self._queue = MessageQueue(self._drafts.keep, self)
        self._presets = Presets(settings, runner, self)
        self._open = self._make_open()
        self._steering = Steering(
            self._open, self._answering, self._database, self._parameters, notices, choice_of, now, self
        )
        self._days = QTimer(self)
        self._days.setInterval(DAY_LOOK_MS)
        self._days.timeout.connect(self._conversations.refresh_groups)
        engine.model_changed.connect(lambda _model: self._parameters.changed.emit())

    def _make_open(self) -> OpenThread:
        opened = OpenThread(
            self._conversations,
            self._transcript,
            self._database,
            self._answering,
            self._unsaved,
            self._deletions,
            self._parameters,
            self._tell_failure,
            self,
        )
        opened.place.changed.connect(self.current_changed)
        opened.moved.connect(self._update_busy)
        self._answering.refused.connect(self._not_stored)
        self._answering.ended.connect(self._answer_ended)
        self._answering.model_wanted.connect(self.model_wanted)
        return opened

    @property
    def conversations(self) -> ConversationListModel:
        """The list, newest first."""
        return self._conversations

    @property
    def transcript(self) -> TranscriptModel:
        """The messages of the open conversation."""
        return self._transcript

    @property
    def steering(self) -> Steering:
        """Commands on messages."""
        return self._steering

    @property
    def parameters(self) -> Parameters:
        """What answers are made with."""
        return self._parameters

    @property
    def queue(self) -> MessageQueue:
        """Messages that wait for an answer."""
        return self._queue

    @property
    def presets(self) -> Presets:
        """Named sets of parameters."""
        return self._presets

    @property
    def current(self) -> Conversation | None:
        """The open conversation; None for a new chat."""
        return self._open.place.record

    @property
    def busy(self) -> bool:
        """Whether an answer for the open conversation is running."""
        return self._busy

    def start(self) -> None:
        """Open the database, list the conversations, read the drafts. Commands given earlier wait for it too."""
        self._database.remarks(self._take_remarks)
        self._database.call(Store.conversations, self._take_list)
        self._drafts.load()
        self._days.start()

    def new_conversation(self) -> None:
        """Go to an empty chat. There is only one: it becomes a conversation with its first message."""
        self._open.leave()

    def open(self, conversation: str) -> None:
        """Show a conversation. A running answer goes on where it belongs."""
        self._open.open(conversation)

    def rename(self, conversation: str, title: str) -> None:
        """Give a title; a blank one brings the automatic one back."""
        self._database.call(lambda store: store.rename(conversation, title), self._take_conversation)

    def delete(self, conversation: str) -> None:
        """Delete with a way back; an answer that runs in it is stopped first."""
        was_open = conversation == self._open.place.id
        self._answering.stop(conversation)
        self._conversations.remove(conversation)
        self._deletions.delete(conversation, was_open=was_open, restore=self._open.keep)
        if was_open:
            self.new_conversation()

    def undo_delete(self, conversation: str = "") -> None:
        """Bring a deleted conversation back, by default the last one; it is opened if it was open."""
        self._deletions.undo(conversation, self._undeleted)

    def keep_draft(self, conversation: str | None, draft: Draft) -> None:
        """Save what is typed but not sent in ``conversation`` (None: the new chat), at most once a second."""
        self._queue.keep(conversation, draft)

    def send(self, text: str) -> bool:
        """Append ``text`` to the open conversation, save it, then have it answered. While an answer runs there
        it waits in `queue`.

        Returns:
            Whether the text was taken; if not, it stays in the composer. Text that was taken but
            could not be saved comes back through `draft_restored`.
        """
        text, place = clean(text), self._open.place
        if self._closing or not text.strip():
            return False
        if self._busy and place.id is not None:
            if self._is_repeated(text):
                return False
            self._queue.add(place.id, text)
            return True
        return self._answering.can_begin(place.id) and self._ask(place.id, text)

    def _is_repeated(self, text: str) -> bool:
        """Whether this is the question that was just asked, sent twice by one key."""
        last = self._transcript.rows[-2:]
        return len(last) == 2 and last[0].text == text and not (last[1].text or last[1].thinking)

    def _ask(self, known: str | None, text: str) -> bool:
        """Ask in a conversation, None: in one that is made for it and opened."""
        place, new = self._open.place, known is None
        conversation = known or new_id(self._now())
        question = Question(id=new_id(self._now()), text=text)
        self._drafts.forget(known)
        parameters = self._parameters.of(known)
        settings = self._parameters.began(conversation) if new else None
        if new:
            place.begin(conversation)
        running = self._answering.begin(
            conversation,
            parameters,
            lambda store, start: store.ask(conversation, question, start, settings),
            text=text,
        )
        if place.shows(conversation):
            self._transcript.show([*self._transcript.rows, self._question_row(question), running.row])
        self._update_busy()
        return True

    def expect_model(self, name: str) -> None:
        """Which model is being loaded, or comes back with the next message ("" none): until then it is the author."""
        self._answering.expect(name)

    def stop(self) -> None:
        """Stop the answer of the open conversation; what was written stays."""
        self._answering.stop(self._open.place.id)

    def stop_any(self) -> None:
        """Stop the answer that is written, in whichever conversation; what was written stays."""
        running = self._answering.running
        if running is not None:
            running.stop()

    def regenerate(self, message: str = "", model: Path | None = None) -> None:
        """Answer again, as another version: the answer ``message``, by default the last one."""
        self._steering.regenerate(message, model)

    def show_version(self, message: str, step: int) -> None:
        """Show the next (+1) or the previous (-1) version of a message. Not while an answer is written here."""
        self._steering.show_version(message, step)

    def close(self, done: Callable[[], None]) -> None:
        """Save what is being written, remove what was deleted, close the database; then ``done``."""
        self._closing = True
        self._days.stop()
        self._unsaved.retry()
        self._unsaved.timer.stop()
        self._drafts.close()
        self._parameters.close()
        self._answering.close()
        self._steering.close()
        self._deletions.purge()
        self._database.close(done)

    # The running answer

    def _answer_ended(self, end: AnswerEnd, conversation: str) -> None:
        """What waits for an answer that came to its end is sent now."""
        self._update_busy()
        if end.status is not Status.DONE or not self._queue.of(conversation):
            return
        if self._answering.can_begin(conversation) and (text := self._queue.take(conversation)) is not None:
            self._ask(conversation, text)
            self._queue.save(conversation)

    def _not_stored(self, refused: NotStored) -> None:
        if self._open.place.id == refused.conversation:
            if self.current is None:
                self._parameters.refused(refused.conversation)
                self.new_conversation()
            else:
                self._open.load(refused.conversation)
        self._update_busy()
        if refused.text:
            self.draft_restored.emit(refused.text)

    def _question_row(self, question: Question) -> MessageRow:
        return MessageRow(
            id=question.id, role=Role.USER, text=question.text, status=Status.DONE, author=YOU, created=self._now()
        )

    def _update_busy(self) -> None:
        running = self._answering.running
        busy = running is not None and running.conversation == self._open.place.id
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)

    def _save_parameters(self, conversation: str, settings: str | None) -> None:
        self._database.call(lambda store: store.set_settings(conversation, settings), self._take_conversation)

    def _model_file(self) -> str:
        """The model that answers next, as far as it is known."""
        engine = self._engine
        if engine.model is not None:
            return engine.model.path
        if engine.last_load is not None:
            return str(engine.last_load[0])
        choice = self._choose()
        return "" if isinstance(choice, VrambleError) else str(choice.path)

    # The list

    def _take_remarks(self, result: tuple[VrambleError, ...] | VrambleError) -> None:
        for error in (result,) if isinstance(result, VrambleError) else result:
            self._notices.post(chat_notices.remark(error))

    def _take_list(self, result: list[Conversation] | VrambleError) -> None:
        if isinstance(result, VrambleError):
            self._tell_failure(result)
            return
        self.listed.emit([conversation.id for conversation in result])
        self._conversations.reset([conversation for conversation in result if conversation.id not in self._deletions])
        self._open.place.tell()

    def _take_conversation(self, result: Conversation | VrambleError | None) -> None:
        if isinstance(result, VrambleError):
            self._tell_failure(result)
        elif result is not None:
            self._open.keep(result)

    def _undeleted(self, conversation: Conversation, was_open: bool) -> None:
        self._open.keep(conversation)
        if was_open:
            self.open(conversation.id)

    def _tell_drafts(self, error: VrambleError | None) -> None:
        if error is None:
            self._notices.withdraw(chat_notices.DRAFT)
        else:
            self._notices.post(chat_notices.draft_not_saved(error))

    def _tell_failure(self, error: VrambleError) -> None:
        self._notices.post(chat_notices.not_opened(error))
