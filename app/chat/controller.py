"""Commands of the chat: conversations, the open one, and the one answer that runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from app.chat import chat_notices
from app.chat.conversation_list import ConversationListModel
from app.chat.database import ChatDatabase
from app.chat.deletions import Deletions
from app.chat.drafts import Drafts
from app.chat.engine_seam import AnswerEngine
from app.chat.model_choice import Choice
from app.chat.open_conversation import OpenConversation
from app.chat.rows import YOU, MessageRow, row_of
from app.chat.running_answer import RunningAnswer
from app.chat.settings import ChatSettings
from app.chat.transcript import TranscriptModel
from app.chat.unsaved import UnsavedAnswers
from app.jobs import SerialRunner
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.chat.ids import new_id
from engine.chat.records import AnswerEnd, AnswerStart, Conversation, Draft, Message, Question, Role, Status, Thread
from engine.chat.store import Store
from engine.chat.text import clean
from engine.client.session import WorkerState
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
    ) -> None:
        super().__init__(parent)
        self._engine, self._settings, self._notices, self._choose, self._now = engine, settings, notices, choose, now
        self._database = ChatDatabase(database, runner, now)
        self._conversations = ConversationListModel(now, self)
        self._transcript = TranscriptModel(self)
        self._open = OpenConversation(self._conversations, self._transcript, self)
        self._open.changed.connect(self.current_changed)
        self._running: RunningAnswer | None = None
        self._expected = ""
        self._busy = self._closing = False
        self._unsaved = UnsavedAnswers(self._database, notices, self)
        self._deletions = Deletions(self._database, self._tell_failure, self)
        self._deletions.purged.connect(self.purged)
        self._drafts = Drafts(self._database, self._tell_drafts, self)
        self._drafts.loaded.connect(self.drafts_loaded)
        self._days = QTimer(self)
        self._days.setInterval(DAY_LOOK_MS)
        self._days.timeout.connect(self._conversations.refresh_groups)

    @property
    def conversations(self) -> ConversationListModel:
        """The list, newest first."""
        return self._conversations

    @property
    def transcript(self) -> TranscriptModel:
        """The messages of the open conversation."""
        return self._transcript

    @property
    def current(self) -> Conversation | None:
        """The open conversation; None for a new chat."""
        return self._open.record

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
        self._update_busy()

    def open(self, conversation: str) -> None:
        """Show a conversation. A running answer goes on where it belongs."""
        if conversation != self._open.id:
            self._open.go(conversation)
            self._update_busy()
            self._load(conversation)

    def rename(self, conversation: str, title: str) -> None:
        """Give a title; a blank one brings the automatic one back."""
        self._database.call(lambda store: store.rename(conversation, title), self._take_conversation)

    def delete(self, conversation: str) -> None:
        """Delete with a way back; an answer that runs in it is stopped first."""
        was_open = conversation == self._open.id
        if self._running is not None and self._running.conversation == conversation:
            self._running.stop()
        self._conversations.remove(conversation)
        self._deletions.delete(conversation, was_open=was_open, restore=self._keep)
        if was_open:
            self.new_conversation()

    def undo_delete(self, conversation: str = "") -> None:
        """Bring a deleted conversation back, by default the last one; it is opened if it was open."""
        self._deletions.undo(conversation, self._undeleted)

    def keep_draft(self, conversation: str | None, draft: Draft) -> None:
        """Save what is typed but not sent in ``conversation`` (None: the new chat), at most once a second."""
        self._drafts.keep(conversation, draft)

    def send(self, text: str) -> bool:
        """Append ``text`` to the open conversation, save it, then have it answered.

        Returns:
            Whether the text was taken; if not, it stays in the composer. Text that was taken but
            could not be saved comes back through `draft_restored`.
        """
        text = clean(text)
        if self._closing or not text.strip() or self._is_busy() or not self._has_model():
            return False
        conversation = self._open.id or new_id(self._now())
        running, start = self._prepare(conversation)
        question = Question(id=new_id(self._now()), text=text)
        self._drafts.forget(self._open.id)
        if self._open.id is None:
            self._open.begin(conversation)
        if self._open.is_shown:
            self._transcript.show([*self._transcript.rows, self._question_row(question), running.row])
        self._database.call(
            lambda store: store.ask(conversation, question, start), lambda result: self._stored(running, result, text)
        )
        self._update_busy()
        return True

    def expect_model(self, name: str) -> None:
        """Which model is being loaded, or comes back with the next message ("" none): until then it is the author."""
        self._expected = name
        if self._running is not None:
            self._running.expect(name)

    def stop(self) -> None:
        """Stop the answer of the open conversation; what was written stays."""
        if self._running is not None and self._running.conversation == self._open.id:
            self._running.stop()

    def regenerate(self, message: str = "") -> None:
        """Answer again, as another version: the answer ``message``, by default the last one."""
        row = self._transcript.row(message) if message else next(reversed(self._transcript.rows), None)
        conversation = self._shown_conversation()
        if conversation is None or row is None or row.role not in (Role.USER, Role.ASSISTANT):
            return
        if self._closing or self._is_busy() or not self._has_model():
            return
        answered = row.id
        running, start = self._prepare(conversation)
        self._database.call(
            lambda store: store.retry(conversation, answered, start), lambda result: self._stored(running, result, "")
        )
        self._update_busy()

    def show_version(self, message: str, step: int) -> None:
        """Show the next (+1) or the previous (-1) version of a message. Not while an answer is written here."""
        conversation = self._shown_conversation()
        if conversation is not None and not self._busy:
            self._database.call(
                lambda store: store.show_version(conversation, message, step),
                lambda result: self._take_thread(conversation, result),
            )

    def close(self, done: Callable[[], None]) -> None:
        """Save what is being written, remove what was deleted, close the database; then ``done``."""
        self._closing = True
        self._days.stop()
        self._unsaved.retry()
        self._unsaved.timer.stop()
        self._drafts.close()
        running, self._running = self._running, None
        if running is not None:
            self._unsaved.save(running.abandon(), running.conversation, self._keep)
        self._deletions.purge()
        self._database.close(done)

    # The running answer

    def _prepare(self, conversation: str) -> tuple[RunningAnswer, AnswerStart]:
        model = self._engine.model
        settings = self._settings.get(ChatSettings)
        start = AnswerStart(id=new_id(self._now()), model=None if model is None else model.name)
        running = RunningAnswer(start, conversation, settings, self._engine, self._database, self._choose, self)
        running.changed.connect(self._show_running)
        running.unsaved.connect(self._unsaved.tell)
        running.ended.connect(self._ended)
        running.expect(self._expected)
        self._running = running
        return running, start

    def _stored(self, running: RunningAnswer, result: Thread | VrambleError, text: str) -> None:
        """The question is on disk (or is not): only now the engine is asked."""
        if self._closing:
            return
        if isinstance(result, VrambleError):
            self._not_stored(running, result, text)
            return
        if self._open.id == result.conversation.id:
            self._show(result)
        else:
            self._keep(result.conversation)
        running.ask(result)

    def _not_stored(self, running: RunningAnswer, error: VrambleError, text: str) -> None:
        self._running = None
        running.abandon()
        running.deleteLater()
        if self._open.id == running.conversation:
            if self.current is None:
                self.new_conversation()
            else:
                self._load(running.conversation)
        self._update_busy()
        self._notices.post(chat_notices.not_saved(error))
        if text:
            self.draft_restored.emit(text)

    def _show_running(self) -> None:
        if self._running is not None and self._open.shows(self._running.conversation):
            self._transcript.update(self._running.row)

    def _ended(self, end: AnswerEnd) -> None:
        running, self._running = self._running, None
        if running is not None:
            self._unsaved.save(end, running.conversation, self._keep)
            running.deleteLater()
        self._update_busy()
        self._notices.withdraw(chat_notices.BUSY)

    def _is_busy(self) -> bool:
        """Whether an answer runs; one elsewhere is told, one here is plain to see."""
        if self._running is None:
            return False
        if self._running.conversation != self._open.id:
            self._notices.post(chat_notices.busy_elsewhere(self._running.stop))
        return True

    def _has_model(self) -> bool:
        """Whether a model is loaded, about to be, or can be chosen."""
        engine = self._engine
        coming = engine.state in (WorkerState.STARTING, WorkerState.LOADING)
        reason = None if engine.model or engine.last_load or coming else self._choose()
        if isinstance(reason, VrambleError):
            self._notices.post(chat_notices.no_model(reason, self.model_wanted.emit))
            return False
        self._notices.withdraw(chat_notices.NO_MODEL)
        return True

    # The open conversation

    def _load(self, conversation: str) -> None:
        self._database.call(
            lambda store: store.thread(conversation), lambda result: self._take_thread(conversation, result)
        )

    def _take_thread(self, conversation: str, result: Thread | VrambleError | None) -> None:
        if isinstance(result, VrambleError):
            self._tell_failure(result)
        elif conversation == self._open.id:
            if result is None:
                self.new_conversation()
            else:
                self._show(result)

    def _show(self, thread: Thread) -> None:
        self._open.show(thread.conversation.id, [self._row(message) for message in thread.messages])
        self._keep(thread.conversation)

    def _row(self, message: Message) -> MessageRow:
        row = row_of(self._unsaved.laid_over(message))
        if self._running is not None and self._running.id == row.id:
            self._running.place(row)
            return self._running.row
        return row

    def _question_row(self, question: Question) -> MessageRow:
        return MessageRow(
            id=question.id, role=Role.USER, text=question.text, status=Status.DONE, author=YOU, created=self._now()
        )

    def _shown_conversation(self) -> str | None:
        """The open conversation, if its messages are on the screen."""
        return self._open.id if self._open.is_shown else None

    def _update_busy(self) -> None:
        busy = self._running is not None and self._running.conversation == self._open.id
        if busy != self._busy:
            self._busy = busy
            self.busy_changed.emit(busy)

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
        self._open.tell()

    def _take_conversation(self, result: Conversation | VrambleError | None) -> None:
        if isinstance(result, VrambleError):
            self._tell_failure(result)
        elif result is not None:
            self._keep(result)

    def _keep(self, conversation: Conversation) -> None:
        if conversation.id not in self._deletions:
            self._conversations.put(conversation)
            self._open.tell()

    def _undeleted(self, conversation: Conversation, was_open: bool) -> None:
        self._keep(conversation)
        if was_open:
            self.open(conversation.id)

    def _tell_drafts(self, error: VrambleError | None) -> None:
        if error is None:
            self._notices.withdraw(chat_notices.DRAFT)
        else:
            self._notices.post(chat_notices.draft_not_saved(error))

    def _tell_failure(self, error: VrambleError) -> None:
        self._notices.post(chat_notices.not_opened(error))
