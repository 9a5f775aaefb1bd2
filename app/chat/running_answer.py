"""One answer that runs: what the engine says, saved and shown at a bounded rate."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from PySide6.QtCore import QObject, Signal

from app.chat.answer_words import first_words
from app.chat.database import ChatDatabase
from app.chat.engine_seam import AnswerEngine
from app.chat.model_choice import Choice
from app.chat.outcome import Outcome, outcome_of, room_advice, with_earlier
from app.chat.progress_words import LOADING, STOPPING, WAITING, words_for
from app.chat.prompt import build_prompt
from app.chat.rows import UNNAMED_MODEL, MessageRow
from app.chat.settings import ChatSettings
from app.chat.streamed_save import StreamedSave
from app.chat.summaries import Summarised
from app.chat.summarising import Summarising
from app.chat.throttle import Throttle
from engine.chat.records import AnswerEnd, AnswerStart, Message, Role, Status, Thread
from engine.chat.temporary import is_temporary
from engine.client.session import WorkerState
from engine.errors import VrambleError
from engine.protocol.frames import Delta, Failed, Finished, Loaded, Progress

SHOW_MS = 33


class RunningAnswer(QObject):
    """From the moment the user sends until the last event of the engine.

    Args:
        summarised: Called when a summary that stands for the beginning of the conversation is on the disk, which may be
            after the end.

    Attributes:
        changed: `row` of this answer, the object itself, changed; at most every `SHOW_MS`.
        unsaved: A save while streaming failed (`VrambleError`); the text is still here.
        ended: This object and its `AnswerEnd`, once. Not after `abandon`.
    """

    changed = Signal(object)
    unsaved = Signal(object)
    ended = Signal(object, object)

    def __init__(
        self,
        start: AnswerStart,
        conversation: str,
        settings: ChatSettings,
        engine: AnswerEngine,
        database: ChatDatabase,
        choose: Callable[[], Choice | VrambleError],
        parent: QObject | None = None,
        clock: Callable[[], float] = time.monotonic,
        *,
        resumed: Message | None = None,
        model: Choice | None = None,
        summarised: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self.conversation = conversation
        self._settings, self._engine, self._choose = settings, engine, choose
        self._row = MessageRow(
            id=start.id,
            role=Role.ASSISTANT,
            text="",
            status=Status.STREAMING,
            author=start.model or UNNAMED_MODEL,
            progress=WAITING,
            created=0.0 if resumed is None else resumed.created,
        )
        self._model = start.model
        self._resumed, self._choice = resumed, model
        self._thread: Thread | None = None
        self._words = first_words(clock, settings, resumed)
        self._request: int | None = None
        self._load: int | None = None
        self._load_failure: Failed | None = None
        self._saw_load = self._stopping = self._over = False
        self._summaries = Summarising(
            engine, database, conversation, settings, self._tell_progress, summarised, self._take_end
        )
        self._show = Throttle(SHOW_MS, self._tell, self)
        self._save = StreamedSave(start.id, database, lambda: self._words, self)
        self._save.failed.connect(self.unsaved)
        engine.state_changed.connect(self._engine_state)

    @property
    def id(self) -> str:
        """Id of the answer's message."""
        return self._row.id

    @property
    def row(self) -> MessageRow:
        """The answer as it is now."""
        words = self._words
        return msgspec.structs.replace(self._row, text=words.text, thinking=words.thought, thought_s=words.thought_s)

    def place(self, row: MessageRow) -> None:
        """Take version numbers and time from the stored row."""
        self._row = msgspec.structs.replace(self._row, version=row.version, versions=row.versions, created=row.created)

    def expect(self, model: str) -> None:
        """The name of the model that is about to answer; shown until one has answered, never saved."""
        if model and self._model is None and not self._over and model != self._row.author:
            self._row = msgspec.structs.replace(self._row, author=model)
            self._show.poke()

    def ask(self, thread: Thread) -> None:
        """Ask the engine to answer ``thread``, which is on disk now."""
        self._thread = thread
        if self._stopping:
            self._end(Outcome(status=Status.STOPPED))
        elif self._choice is not None:
            self._change(progress=LOADING)
            self._load = self._engine.load(self._choice.path, self._choice.options, self._loaded_first)
        else:
            self._generate(thread)

    def stop(self) -> None:
        """End it as soon as possible; what was written stays."""
        if self._stopping or self._over:
            return
        self._stopping = True
        self._change(progress=STOPPING)
        self._summaries.stop()
        for request in (self._request, self._load):
            if request is not None:
                self._engine.cancel(request)

    def abandon(self) -> AnswerEnd:
        """The program ends: nothing is heard any more; the answer as it is now, stopped."""
        self._close()
        self._summaries.stop()
        if self._request is not None:
            self._engine.cancel(self._request)
        return self._answer_end(Outcome(status=Status.STOPPED))

    def _generate(self, thread: Thread) -> None:
        self._summaries.prepare([message for message in thread.messages if message.id != self.id], self._ask)

    def _ask(self, prompt: Summarised) -> None:
        begun = first_words(time.monotonic, self._settings, self._resumed)
        self._request = self._engine.generate(
            build_prompt(prompt.system_prompt, prompt.messages),
            self._settings.sampling(),
            self._settings.max_tokens,
            (),
            self._take_delta,
            self._take_progress,
            self._take_end,
            thinking=self._settings.thinking(),
            prefill=begun.text,
            prefill_thinking=begun.thought,
            conversation="" if is_temporary(self.conversation) else self.conversation,
            overflow=self._summaries.overflow,
        )

    def _engine_state(self, state: WorkerState) -> None:
        if state is WorkerState.LOADING and self._request is not None:
            self._saw_load = True

    def _take_progress(self, progress: Progress) -> None:
        self._saw_load = self._saw_load or progress.stage == "load"
        self._tell_progress(words_for(progress))

    def _tell_progress(self, words: str) -> None:
        if not self._over and not self._stopping:
            self._change(progress=words)

    def _take_delta(self, delta: Delta) -> None:
        if self._over:
            return
        self._words.take(delta)
        self._name_model()
        if not self._stopping:
            self._row = msgspec.structs.replace(self._row, progress="")
        self._show.poke()
        self._save.poke()

    def _take_end(self, event: Finished | Failed) -> None:
        if self._over:
            return
        if isinstance(event, Failed) and event.code == "no-model" and self._load_and_try_again():
            return
        if not self._stopping and self._summaries.again(event, self._ask):
            return
        if isinstance(event, Failed) and event.code == "no-model" and self._load_failure is not None:
            event = self._load_failure
        self._words.finish()
        self._name_model()
        advice = room_advice(self._engine.model)
        self._end(outcome_of(event, self._words.text, advice, stopping=self._stopping))

    def _load_and_try_again(self) -> bool:
        """No model was loaded or about to be: load the one that is chosen, and ask behind it."""
        if self._saw_load or self._stopping or self._load is not None or self._thread is None:
            return False
        choice = self._choose()
        if isinstance(choice, VrambleError):
            return False
        self._load = self._engine.load(choice.path, choice.options, self._loaded)
        self._generate(self._thread)
        return True

    def _loaded_first(self, event: Loaded | Failed) -> None:
        """The model that was chosen for this answer is there, or why it is not."""
        self._load = None
        if self._over or self._thread is None:
            return
        if isinstance(event, Failed):
            self._take_end(event)
        elif self._stopping:
            self._end(Outcome(status=Status.STOPPED))
        else:
            self._choice = None
            self._generate(self._thread)

    def _loaded(self, event: Loaded | Failed) -> None:
        if isinstance(event, Failed):
            self._load_failure = event

    def _name_model(self) -> None:
        model = self._engine.model
        if model is not None and model.name != self._model:
            self._model = model.name
            self._row = msgspec.structs.replace(self._row, author=model.name)

    def _tell(self) -> None:
        self.changed.emit(self)

    def _change(self, *, progress: str) -> None:
        if progress != self._row.progress:
            self._row = msgspec.structs.replace(self._row, progress=progress)
            self._show.poke()

    def _end(self, outcome: Outcome) -> None:
        self._close()
        end = self._answer_end(outcome)
        self._row = msgspec.structs.replace(
            self._row,
            status=end.status,
            stats=end.stats,
            error=end.error,
            finish=end.finish,
            progress="",
            settings=end.settings,
        )
        self.changed.emit(self)
        self.ended.emit(self, end)

    def _close(self) -> None:
        self._over = True
        self._show.stop()
        self._save.stop()
        self._engine.state_changed.disconnect(self._engine_state)

    def _answer_end(self, outcome: Outcome) -> AnswerEnd:
        model = self._engine.model
        n_ctx = None if model is None else model.n_ctx
        return AnswerEnd(
            id=self.id,
            text=self._words.text,
            thinking=self._words.thought,
            thought_s=self._words.thought_s,
            status=outcome.status,
            model=self._model,
            settings=self._settings.of_run(n_ctx, self._summaries.begun_at),
            stats=with_earlier(self._resumed, outcome.stats),
            error=outcome.error or self._summaries.problem or None,
            finish=outcome.finish,
        )
