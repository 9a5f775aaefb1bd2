"""What can be done with the chosen model: buttons, keys and the menu lead here."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.library.service import InstalledModel
from engine.library.names import shown
from engine.library.records import Mend
from ui.library.keep.deleting import Deleting
from ui.library.keep.mending import Mending
from ui.library.keep.model_panel import ModelPanel
from ui.library.keep.models_view import ModelsView
from ui.library.message_slot import MessageSlot
from ui.library.parts import Parts
from ui.library.question_bar import QuestionBar


class Deeds(QObject):
    """Does nothing that its button does not offer now.

    Attributes:
        load_requested: Path of the model to load.
        options_requested: Path of the model whose load options are to be chosen.
        repo_wanted: The page of a repository should be shown.
        started: A download or a repair began.
    """

    load_requested = Signal(object)
    options_requested = Signal(object)
    repo_wanted = Signal(str)
    started = Signal()

    def __init__(
        self, parts: Parts, view: ModelsView, panel: ModelPanel, question: QuestionBar, messages: MessageSlot
    ) -> None:
        super().__init__(view)
        self._parts, self._library, self._view, self._panel = parts, parts.library, view, panel
        self._deleting = Deleting(parts.library, parts.worker, question, messages, self)
        self._mending = Mending(parts.library, parts.downloads, messages, self)
        self._mending.started.connect(self.started)
        self._connect_keys()
        self._connect_menu()

    def _connect_keys(self) -> None:
        view, panel = self._view, self._panel
        for load in (view.enter_pressed, view.doubleClicked, panel.load_wanted):
            load.connect(self._load)
        for options in (view.shift_enter_pressed, panel.options_wanted):
            options.connect(self._choose_options)
        for delete in (view.delete_pressed, panel.delete_wanted):
            delete.connect(self._ask_delete)
        view.shift_delete_pressed.connect(lambda: self._ask_delete(for_good=True))

    def _connect_menu(self) -> None:
        panel, library, mending = self._panel, self._library, self._mending
        panel.folder_wanted.connect(lambda: self._with(lambda model: self._parts.outside.folder(model.folder)))
        panel.mend_wanted.connect(self._mend)
        panel.verify_wanted.connect(lambda: self._with(lambda model: library.verify((model,))))
        panel.updates_wanted.connect(lambda: self._with(lambda model: library.check_updates((model,))))
        panel.move_wanted.connect(lambda root: self._with(lambda model: mending.move(model, root)))
        panel.page_wanted.connect(lambda: self._with(lambda model: self.repo_wanted.emit(model.repo or "")))
        panel.copy_wanted.connect(lambda: self._with(self._copy_path))
        panel.update_wanted.connect(lambda: self._with(self._get_newer))

    def _with(self, run: Callable[[InstalledModel], object]) -> None:
        model = self._view.chosen_model
        if model is not None:
            run(model)

    def _load(self, *_what: object) -> None:
        if self._panel.load.isEnabled():
            self._with(lambda model: self.load_requested.emit(model.path))

    def _choose_options(self) -> None:
        if self._panel.options.isEnabled():
            self._with(lambda model: self.options_requested.emit(model.path))

    def _ask_delete(self, *, for_good: bool = False) -> None:
        if self._panel.delete.isEnabled():
            self._with(lambda model: self._deleting.ask(model, for_good=for_good))

    def _copy_path(self, model: InstalledModel) -> None:
        QGuiApplication.clipboard().setText(shown(model.path))

    def _mend(self, how: Mend) -> None:
        self._with(lambda model: self._mending.mend(model, how))

    def _get_newer(self, model: InstalledModel) -> None:
        update = self._library.updates.get(model.path)
        if update is not None:
            self._mending.get_newer(update)
