"""What is installed: load it, find it in the file manager, delete it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from app.fit.badges import FitBadges
from app.library.service import FileState, InstalledModel, LibraryService
from app.notices import Notice, Severity
from app.worker.service import WorkerService
from engine.errors import VrambleError
from ui.library import words
from ui.library.fit_column import FitColumn, UnknownLast
from ui.library.fit_sheet import FitSheet
from ui.library.installed_model import ROW_ROLE, SORT_ROLE, Column, InstalledTable
from ui.library.message_slot import MessageSlot
from ui.library.question_bar import QuestionBar
from ui.library.table_view import TableView
from ui.theme import SPACE_M, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton

WIDTHS = (230, 116, 92, 84, 100, 200, 172)
SEARCH_FROM = 6
"""A search field is worth its place from so many models on."""


class InstalledPage(QWidget):
    """Table, what is known of the chosen model, and what can be done with it.

    Attributes:
        load_requested: Path of the model to load.
        options_requested: Path of the model whose load options are to be chosen.
        plan_requested: Path of a model, and the load options to begin the choice with.
        get_wanted: There is nothing yet: show where to get a model.
    """

    load_requested = Signal(object)
    options_requested = Signal(object)
    plan_requested = Signal(object, object)
    get_wanted = Signal()

    def __init__(
        self,
        library: LibraryService,
        worker: WorkerService,
        theme: Theme,
        open_folder: Callable[[Path], None],
        badges: FitBadges | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._badges = badges
        self._library, self._worker, self._theme, self._open_folder = library, worker, theme, open_folder
        self._build_table()
        self._search = self._build_search()
        self._details = ElidedLabel()
        self._details.setObjectName("modelDetails")
        self._details.setProperty("role", "muted")
        self._question = QuestionBar(theme)
        self._messages = MessageSlot(theme)
        self._empty = self._build_empty()
        self._build_buttons()
        self._lay_out()
        self._question.answered.connect(self._view.setFocus)
        library.models_changed.connect(self._refresh)
        worker.model_changed.connect(self._mark_loaded)
        self._mark_loaded()
        self._refresh()

    # ---- building

    def _build_table(self) -> None:
        self._table = InstalledTable(self._theme, self)
        self._proxy = UnknownLast(self)
        self._proxy.setSourceModel(self._table)
        self._proxy.setSortRole(SORT_ROLE)
        self._proxy.setFilterKeyColumn(-1)
        self._proxy.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._view = TableView(self._theme, WIDTHS, Column.NAME, (Column.FOLDER, Column.CONTEXT))
        self._view.setObjectName("installedTable")
        self._view.setAccessibleName(self.tr("Installed models"))
        self._view.setModel(self._proxy)
        self._view.setSortingEnabled(True)
        self._view.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
        self._view.fit()
        self._view.selectionModel().selectionChanged.connect(self._show_chosen)
        self._view.doubleClicked.connect(self._load)
        self._view.enter_pressed.connect(self._load)
        self._view.shift_enter_pressed.connect(self._choose_options)
        self._view.delete_pressed.connect(self._ask_delete)
        self._watch_fit()

    def _watch_fit(self) -> None:
        badges = self._badges
        if badges is None:
            self._view.setColumnHidden(Column.FIT, True)
            return
        self._table.set_fit(badges.of_installed)
        badges.changed.connect(self._table.refit)
        self._fit_column = FitColumn(
            self._view, Column.FIT, Column.SIZE, self._look_at, self._table.refit, self._explain
        )
        self._view.horizontalHeader().sortIndicatorChanged.connect(self._look_at_all)

    def _look_at(self, rows: range) -> None:
        if self._badges is not None:
            seen = [self._row(row) for row in rows if row < self._proxy.rowCount()]
            self._badges.look_at(model.path for model in seen if model.can_chat)

    def _look_at_all(self, column: int) -> None:
        """To sort by it, all have to be known."""
        if column == Column.FIT:
            self._look_at(range(self._proxy.rowCount()))

    def _explain(self, row: int, cell: QRect) -> None:
        model = self._row(row)
        if self._badges is None or not model.can_chat:
            return
        badge = self._badges.of_installed(model.path)
        sheet = FitSheet(self._theme, model.label, badge, self._badges.suggestions_for(model.path), self)
        sheet.chosen.connect(lambda options: self.plan_requested.emit(model.path, options))
        sheet.open_at(cell)

    def _build_search(self) -> QLineEdit:
        search = QLineEdit()
        search.setObjectName("searchEdit")
        search.setPlaceholderText(self.tr("Search installed models"))
        search.setAccessibleName(self.tr("Search installed models"))
        search.textChanged.connect(self._filter)
        return search

    def _build_empty(self) -> EmptyState:
        get = TextButton(self._theme, self.tr("Get a model"), "download-simple", role="primary")
        get.setObjectName("emptyGetButton")
        get.clicked.connect(self.get_wanted)
        return EmptyState(
            self._theme,
            "package",
            self.tr("No model is installed yet"),
            self.tr("A model is one GGUF file, from 0.1 to 50 GB. Smaller ones answer faster, larger ones better."),
            (get,),
        )

    def _build_buttons(self) -> None:
        self._load_button = TextButton(self._theme, self.tr("Load"), "play", role="primary")
        self._load_button.setObjectName("loadModelButton")
        self._load_button.clicked.connect(self._load)
        self._options_button = TextButton(self._theme, self.tr("Load with options…"), "sliders-horizontal")
        self._options_button.setObjectName("loadWithOptionsButton")
        self._options_button.setToolTip(self.tr("Choose context, device and more first (Shift+Enter)"))
        self._options_button.clicked.connect(self._choose_options)
        self._folder_button = TextButton(self._theme, self.tr("Show folder"), "folder-open")
        self._folder_button.setObjectName("showFolderButton")
        self._folder_button.clicked.connect(self._show_folder)
        self._delete_button = TextButton(self._theme, self.tr("Delete"), "trash")
        self._delete_button.setObjectName("deleteModelButton")
        self._delete_button.clicked.connect(self._ask_delete)

    def _lay_out(self) -> None:
        actions = QHBoxLayout()
        actions.setSpacing(SPACE_S)
        actions.addWidget(self._details, 1)
        for button in (self._delete_button, self._folder_button, self._options_button, self._load_button):
            actions.addWidget(button)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_M)
        column.addWidget(self._search)
        column.addWidget(self._view, 1)
        column.addWidget(self._question)
        column.addLayout(actions)
        self._pages = QStackedLayout()
        self._pages.addWidget(full)
        self._pages.addWidget(self._empty)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, SPACE_M, 0, 0)
        outer.setSpacing(SPACE_M)
        outer.addWidget(self._messages)
        outer.addLayout(self._pages, 1)

    # ---- showing

    def _refresh(self) -> None:
        chosen = self._chosen()
        rows = self._library.models + self._library.companions
        self._table.set_rows(rows, self._library.folder)
        self._pages.setCurrentIndex(0 if rows else 1)
        self._search.setVisible(len(rows) >= SEARCH_FROM or bool(self._search.text()))
        self._choose(chosen.path if chosen else None)
        if self._badges is not None:
            self._fit_column.look_soon()
        if self._library.problems:
            text = "\n".join(self._library.problems)
            self._messages.show_notice(Notice("scan", Severity.WARN, self._library.problems[0], text))

    def _filter(self, text: str) -> None:
        self._proxy.setFilterFixedString(text.strip())
        self._choose(None)

    def _choose(self, path: Path | None) -> None:
        """Select the row of ``path``, else keep what is selected, else the first."""
        for row in range(self._proxy.rowCount()):
            if path is not None and self._row(row).path == path:
                self._view.choose(row)
                break
        else:
            if self._proxy.rowCount() and not self._view.chosen().isValid():
                self._view.choose(self._first_usable())
        self._show_chosen()

    def _first_usable(self) -> int:
        rows = range(self._proxy.rowCount())
        return next((row for row in rows if self._row(row).can_chat), 0)

    def _row(self, row: int) -> InstalledModel:
        model: InstalledModel = self._proxy.index(row, 0).data(ROW_ROLE)
        return model

    def _chosen(self) -> InstalledModel | None:
        index = self._view.chosen()
        return self._row(index.row()) if index.isValid() else None

    def _mark_loaded(self) -> None:
        loaded = self._worker.model
        self._table.set_loaded(loaded.path if loaded is not None else None)
        self._show_chosen()

    def _show_chosen(self) -> None:
        model = self._chosen()
        loaded = model is not None and self._table.is_loaded(model)
        self._details.setText(self._facts(model) if model else "")
        self._load_button.setEnabled(model is not None and model.can_chat and not loaded)
        self._options_button.setEnabled(model is not None and model.can_chat)
        self._options_button.setText(self.tr("Change options…") if loaded else self.tr("Load with options…"))
        self._folder_button.setEnabled(model is not None)
        self._delete_button.setEnabled(model is not None and model.state is not FileState.ABSENT)

    def _facts(self, model: InstalledModel) -> str:
        if model.problem:
            return model.problem
        context = words.context(model.context_length)
        facts = [
            model.label,
            self.tr("{0} parameters").format(words.parameters(model.n_params)) if model.n_params else "",
            self.tr("context {0}").format(context) if context else "",
            self.tr("{0} files").format(len(model.parts)) if len(model.parts) > 1 else "",
            *model.warnings,
        ]
        return " · ".join(fact for fact in facts if fact)

    # ---- doing

    def _load(self) -> None:
        model = self._chosen()
        if model is not None and self._load_button.isEnabled():
            self.load_requested.emit(model.path)

    def _choose_options(self) -> None:
        model = self._chosen()
        if model is not None and self._options_button.isEnabled():
            self.options_requested.emit(model.path)

    def _show_folder(self) -> None:
        model = self._chosen()
        if model is not None:
            self._open_folder(model.folder)

    def _ask_delete(self) -> None:
        model = self._chosen()
        if model is None or not self._delete_button.isEnabled():
            return
        self._messages.clear()
        if model.linked:
            text = self.tr("Remove the link to {0}? The file that it points to stays.").format(model.label)
        elif model.frees_bytes:
            freed = words.file_size(model.frees_bytes)
            text = self.tr("Delete {0}? This frees {1} and cannot be undone.").format(model.label, freed)
        elif self._library.is_starter(model):
            text = self.tr("Delete {0}? No space is freed: the installation keeps its own copy.").format(model.label)
        else:
            text = self.tr("Delete {0}? No space is freed: the file has another name elsewhere on this disk.")
            text = text.format(model.label)
        if self._table.is_loaded(model):
            text += " " + self.tr("It is loaded and will be unloaded first.")
        self._question.ask(text, self.tr("Delete"), lambda: self._delete(model))

    def _delete(self, model: InstalledModel) -> None:
        if self._table.is_loaded(model):
            self._worker.unload()
        self._library.delete(model, lambda outcome: self._deleted(model, outcome))

    def _deleted(self, model: InstalledModel, outcome: int | VrambleError) -> None:
        if isinstance(outcome, VrambleError):
            self._messages.show_error(outcome)
            return
        text = self.tr("{0} was deleted.").format(model.label)
        if outcome:
            text = self.tr("{0} was deleted; {1} are free again.").format(model.label, words.file_size(outcome))
        self._messages.show_notice(Notice("deleted", Severity.INFO, text, timeout_ms=8000))
