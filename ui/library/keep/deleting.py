"""Deleting a model: what it would free and whose files they are, the trash where there is one, and the way back."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.library.service import InstalledModel, LibraryService
from app.notices import Action, Notice, Severity
from app.worker.service import WorkerService
from engine.errors import VrambleError
from engine.library.records import Deletion
from ui.library import words
from ui.library.message_slot import MessageSlot
from ui.library.question_bar import QuestionBar

UNDO_MS = 20_000
NO_TRASH = "no-trash"


class Deleting(QObject):
    """Asks in the page's question bar, tells in its message slot."""

    def __init__(
        self,
        library: LibraryService,
        worker: WorkerService,
        question: QuestionBar,
        messages: MessageSlot,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._library, self._worker, self._question, self._messages = library, worker, question, messages

    def ask(self, model: InstalledModel, *, for_good: bool = False) -> None:
        """Ask whether ``model`` should go: into the trash, or ``for_good``."""
        self._messages.clear()
        self._library.plan_delete(model, lambda outcome: self._planned(model, outcome, for_good))

    def _planned(self, model: InstalledModel, outcome: Deletion | VrambleError, for_good: bool) -> None:
        if isinstance(outcome, VrambleError):
            self._messages.show_error(outcome)
        elif outcome.refused:
            self._messages.show_notice(Notice("delete", Severity.WARN, outcome.refused))
        else:
            self._ask(model, outcome, for_good)

    def _ask(self, model: InstalledModel, plan: Deletion, for_good: bool) -> None:
        text = " ".join((*self._sentences(model, plan, for_good), *plan.notes))
        if for_good:
            self._question.ask(text, self.tr("Delete for good"), lambda: self._delete(model))
            return
        others = ((self.tr("Delete for good"), lambda: self._delete(model)),)
        self._question.ask(text, self.tr("Move to trash"), lambda: self._trash(model), others)

    def _sentences(self, model: InstalledModel, plan: Deletion, for_good: bool) -> list[str]:
        freed = words.file_size(plan.frees_bytes)
        if model.linked and not plan.frees_bytes:
            found = [self.tr("Remove the link to {0}?").format(model.label)]
        elif not plan.frees_bytes and self._library.is_starter(model):
            text = self.tr("Delete {0}? No space is freed: the installation keeps its own copy.")
            found = [text.format(model.label)]
        elif not plan.frees_bytes:
            found = [self.tr("Delete {0}? No space is freed.").format(model.label)]
        elif for_good:
            found = [self.tr("Delete {0}? This frees {1} and cannot be undone.").format(model.label, freed)]
        else:
            text = self.tr("Move {0} to the trash? {1} are free again when the trash is emptied.")
            found = [text.format(model.label, freed)]
        if plan.stays:
            found.append(plan.stays)
        if len(plan.paths) > 1 and len(model.parts) > 1:
            found.append(self.tr("It consists of {0} files.").format(len(model.parts)))
        if self._is_loaded(model):
            found.append(self.tr("It is loaded and will be unloaded first."))
        return found

    def _is_loaded(self, model: InstalledModel) -> bool:
        return self._worker.model is not None and self._worker.model.path == str(model.path)

    def _unload(self, model: InstalledModel) -> None:
        if self._is_loaded(model):
            self._worker.unload()

    def _trash(self, model: InstalledModel) -> None:
        self._unload(model)
        self._library.trash(model, lambda outcome: self._trashed(model, outcome))

    def _trashed(self, model: InstalledModel, outcome: int | VrambleError) -> None:
        if isinstance(outcome, VrambleError):
            if outcome.code == NO_TRASH:
                self._no_trash(model)
            else:
                self._messages.show_error(outcome)
            return
        undo = Action(self.tr("Undo"), self._undo)
        text = self.tr("{0} is in the trash.").format(model.label)
        if outcome:
            text = self.tr("{0} is in the trash. {1} are free again when it is emptied.")
            text = text.format(model.label, words.file_size(outcome))
        self._messages.show_notice(Notice("deleted", Severity.INFO, text, actions=(undo,), timeout_ms=UNDO_MS))

    def _no_trash(self, model: InstalledModel) -> None:
        text = self.tr("There is no trash on this drive. Delete {0} for good? This frees {1} and cannot be undone.")
        text = text.format(model.label, words.file_size(model.frees_bytes))
        self._question.ask(text, self.tr("Delete for good"), lambda: self._delete(model))

    def _undo(self) -> None:
        def done(outcome: VrambleError | None) -> None:
            if isinstance(outcome, VrambleError):
                self._messages.show_error(outcome)

        self._library.undo_trash(done)

    def _delete(self, model: InstalledModel) -> None:
        self._unload(model)
        self._library.delete(model, lambda outcome: self._deleted(model, outcome))

    def _deleted(self, model: InstalledModel, outcome: int | VrambleError) -> None:
        if isinstance(outcome, VrambleError):
            self._messages.show_error(outcome)
            return
        text = self.tr("{0} was deleted.").format(model.label)
        if outcome:
            text = self.tr("{0} was deleted; {1} are free again.").format(model.label, words.file_size(outcome))
        self._messages.show_notice(Notice("deleted", Severity.INFO, text, timeout_ms=8000))
