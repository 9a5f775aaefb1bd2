"""Library: folders at the left, their models at the right, and what can be done with the chosen one."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from app.notices import Notice, Severity
from engine.errors import VrambleError
from engine.library.roots import RootInfo
from ui.library.keep import roots_words
from ui.library.keep.deeds import Deeds
from ui.library.keep.importing import Importing, paths_in
from ui.library.keep.model_panel import ModelPanel
from ui.library.keep.models_view import ModelsView
from ui.library.keep.roots_column import RootsColumn
from ui.library.keep.task_strip import TaskStrip
from ui.library.keep.tools import Tools
from ui.library.message_slot import MessageSlot
from ui.library.parts import Parts
from ui.library.question_bar import QuestionBar
from ui.theme import SPACE_M, SPACE_S
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton


class LibraryPage(QWidget):
    """Files dropped here are imported.

    Attributes:
        load_requested: Path of the model to load.
        options_requested: Path of the model whose load options are to be chosen.
        plan_requested: Path of a model, and the load options to begin the choice with.
        get_wanted: There is nothing yet: show where to get a model.
        repo_wanted: The page of a repository should be shown in Discover.
    """

    load_requested = Signal(object)
    options_requested = Signal(object)
    plan_requested = Signal(object, object)
    get_wanted = Signal()
    repo_wanted = Signal(str)

    def __init__(self, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts, self._theme, self._library, self._worker = parts, parts.theme, parts.library, parts.worker
        self.setAcceptDrops(True)
        self._roots = RootsColumn(parts.library, parts.theme)
        self.view = ModelsView(parts.theme, parts.badges)
        self._panel = ModelPanel(parts.theme)
        self._question, self.messages = QuestionBar(parts.theme), MessageSlot(parts.theme)
        self.deeds = Deeds(parts, self.view, self._panel, self._question, self.messages)
        self.importing = Importing(parts.library, self._question, self.messages, self)
        self._tasks = TaskStrip(parts.library, parts.theme)
        self._tools = Tools(parts.library, parts.theme)
        self._lay_out()
        self._connect()
        self._mark_loaded()
        self._refresh()

    # ---- building

    def _build_empty(self) -> EmptyState:
        get = TextButton(self._theme, self.tr("Get a model"), "download-simple", role="primary")
        get.setObjectName("emptyGetButton")
        get.clicked.connect(self.get_wanted)
        take = TextButton(self._theme, self.tr("Import…"), "file-plus")
        take.setObjectName("emptyImportButton")
        take.clicked.connect(lambda: self._pick(folder=False))
        self._empty = EmptyState(self._theme, "package", "", "", (get, take))
        return self._empty

    def _lay_out(self) -> None:
        full = QWidget(self)  # without a parent it would be shown as a window of its own, for a moment
        inside = QVBoxLayout(full)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(SPACE_M)
        inside.addWidget(self.view, 1)
        inside.addWidget(self._panel)
        self._pages = QStackedLayout()
        self._pages.addWidget(full)
        self._pages.addWidget(self._build_empty())
        right = QVBoxLayout()
        right.setContentsMargins(SPACE_M, 0, 0, 0)
        right.setSpacing(SPACE_S)
        right.addWidget(self._tools)
        right.addWidget(self.messages)
        right.addLayout(self._pages, 1)
        right.addWidget(self._question)
        right.addWidget(self._tasks)
        line = QFrame()
        line.setProperty("role", "hairline-vertical")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, SPACE_M, 0, 0)
        row.setSpacing(0)
        row.addWidget(self._roots)
        row.addWidget(line)
        row.addLayout(right, 1)

    def _connect(self) -> None:
        library, view = self._library, self.view
        for signal in (library.models_changed, library.roots_changed, library.scanning_changed):
            signal.connect(self._refresh)
        library.updates_changed.connect(self._updates_changed)
        self._tools.words_changed.connect(self._narrow)
        self._tools.import_wanted.connect(lambda: self._pick(folder=False))
        self._worker.model_changed.connect(self._mark_loaded)
        view.chosen_changed.connect(self._show_chosen)
        view.menu_wanted.connect(self._panel.open_menu_at)
        view.plan_requested.connect(self.plan_requested)
        self.deeds.load_requested.connect(self.load_requested)
        self.deeds.options_requested.connect(self.options_requested)
        self.deeds.repo_wanted.connect(self.repo_wanted)
        self._question.answered.connect(view.setFocus)
        self._roots.chosen.connect(lambda _root: self._narrow())
        self._roots.add_wanted.connect(lambda: self._pick(folder=True))
        self._roots.remove_wanted.connect(self._ask_remove)
        self._roots.show_wanted.connect(lambda root: self._parts.outside.folder(root.path))

    # ---- showing

    def focus(self) -> None:
        """Give the keyboard to the table, or to the first thing to do when it is empty."""
        if self.view.isVisible():
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self._roots.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _refresh(self, *_what: object) -> None:
        chosen = self.view.chosen_model
        rows = self._library.models + self._library.companions
        names = {one.id: roots_words.name(one) for one in self._library.roots}
        self.view.table.set_rows(rows, names)
        self.view.table.set_updates(frozenset(self._library.updates))
        self._panel.set_targets(roots_words.places_to_put(self._library.roots))
        self.view.choose_path(chosen.path if chosen else None)
        self.view.look_soon()
        self._tools.show_count(len(rows))
        self._choose_page()
        if self._library.problems:
            text = "\n".join(self._library.problems)
            self.messages.show_notice(Notice("scan", Severity.WARN, self._library.problems[0], text))

    def _updates_changed(self) -> None:
        self.view.table.set_updates(frozenset(self._library.updates))
        self._show_chosen()
        told = self._tools.outcome()
        if isinstance(told, VrambleError):
            self.messages.show_error(told)
        elif told:
            self.messages.show_notice(Notice("updates", Severity.INFO, told, timeout_ms=8000))

    def _narrow(self) -> None:
        root = self._roots.root
        self.importing.target = root.id if root is not None and root in self._places() else ""
        self.view.narrow(root.id if root is not None else "", self._tools.words)
        self._choose_page()

    def _places(self) -> tuple[RootInfo, ...]:
        return roots_words.places_to_put(self._library.roots)

    def _choose_page(self) -> None:
        self._pages.setCurrentIndex(0 if self.view.count else 1)
        if self.view.count:
            return
        if self._tools.words.strip() and self.view.table.rows:
            heading, text = self.tr("No model is called that"), self.tr("Other words or another folder find more.")
        elif self._roots.root is not None and self._roots.root.problem:
            heading, text = roots_words.state(self._roots.root), self._roots.root.problem
        elif self._library.scanning:
            heading, text = self.tr("Looking for models…"), ""
        else:
            heading = self.tr("No model is here yet")
            text = self.tr(
                "A model is one GGUF file, from 0.1 to 50 GB. Smaller ones answer faster, larger ones better. "
                "Files that you have already can be dropped here."
            )
        self._empty.set_text(heading, text)

    def _mark_loaded(self) -> None:
        loaded = self._worker.model
        self.view.table.set_loaded(loaded.path if loaded is not None else None)
        self._show_chosen()

    def _show_chosen(self) -> None:
        model = self.view.chosen_model
        if model is None:
            self._panel.show_model(None)
            return
        self._panel.show_model(
            model,
            root=next((one for one in self._library.roots if one.id == model.root), None),
            loaded=self.view.table.is_loaded(model),
            update=self._library.updates.get(model.path),
            others=self.view.table.rows,
        )

    # ---- doing

    def _ask_remove(self, root: RootInfo) -> None:
        text = self.tr("Take {0} off the list? Its files stay as they are.").format(roots_words.name(root))
        label = self.tr("Take off the list")
        self._question.ask(text, label, lambda: self._library.remove_root(root.id), dangerous=False)

    # ---- files from elsewhere

    def _pick(self, *, folder: bool) -> None:
        if folder:
            self.importing.pick_folder()
        else:
            self.importing.pick_files()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """GGUF files and folders are welcome."""
        if paths_in(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Ask what should be done with them."""
        event.acceptProposedAction()
        self.importing.take(paths_in(event.mimeData()))
