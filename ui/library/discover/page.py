"""Discover: what the Hub and the catalogue have, at the left as a list, at the right one repository."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from app.notices import Action, Notice, Severity
from engine.errors import VrambleError
from engine.hub.records import CatalogueModel, RepoSummary
from engine.library.address import parse_repo
from ui.library.discover import words
from ui.library.discover.catalogue_rows import catalogue_rows, told
from ui.library.discover.found import Row
from ui.library.discover.found_list import FoundList
from ui.library.discover.query_bar import QueryBar
from ui.library.discover.repo_pane import RepoPane
from ui.library.message_slot import MessageSlot
from ui.library.parts import Parts
from ui.theme import SPACE_M, SPACE_S
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.late import LateVisibility
from ui.widgets.text_button import TextButton

LIST_WIDTH, LEAST_LIST, LEAST_LEFT, LEAST_PANE = 370, 200, 240, 380
FILES_WIDTH = 580
"""What the table of files needs at scale 1."""


class DiscoverPage(QWidget):
    """Search field, list, repository.

    Attributes:
        load_requested: Path of an installed model.
        downloads_wanted: A download should be shown.
        started: A download began; the argument is the job's id.
    """

    load_requested = Signal(object)
    downloads_wanted = Signal()
    started = Signal(int)

    def __init__(self, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        theme = parts.theme
        self._sized = False
        self._hub, self._library, self._theme = parts.hub, parts.library, theme
        self.bar = QueryBar(theme)
        self.list = FoundList(theme, parts.badges)
        self.list.delegate.here = self._is_here
        self.pane = RepoPane(parts)
        self._messages = MessageSlot(theme)
        self._state = ElidedLabel()
        self._state.setObjectName("foundState")
        self._state.setProperty("role", "muted")
        self._searching = QLabel(self.tr("Asking the Hub…"))
        self._searching.setProperty("role", "muted")
        self._late = LateVisibility(self._searching)
        self._lay_out()
        self._connect()
        self._refresh()

    # ---- building

    def _lay_out(self) -> None:
        self._found = QStackedWidget()
        self._found.addWidget(self.list)
        self._found.addWidget(self._build_empty())
        self._left = QWidget()
        left = QVBoxLayout(self._left)
        left.setContentsMargins(0, 0, SPACE_S, 0)
        left.setSpacing(SPACE_S)
        left.addWidget(self._found, 1)
        left.addWidget(self._searching)
        left.addWidget(self._state)
        self.pane.setContentsMargins(SPACE_M, 0, 0, 0)
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setObjectName("discoverSplit")
        self._split.setChildrenCollapsible(False)
        self._split.addWidget(self._left)
        self._split.addWidget(self.pane)
        self._split.setStretchFactor(1, 1)
        self._left.setMinimumWidth(LEAST_LEFT)
        self.pane.setMinimumWidth(LEAST_PANE)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, SPACE_M, 0, 0)
        column.setSpacing(SPACE_S)
        column.addWidget(self.bar)
        column.addWidget(self._messages)
        column.addWidget(self._split, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The list is given its width when it is known how wide the page is."""
        super().resizeEvent(event)
        self._size_list()

    def _size_list(self) -> None:
        """The list grows with the text until the user has sized it."""
        if not self._sized:
            rest = self.width() - self._theme.px(FILES_WIDTH)
            left = max(self._theme.px(LEAST_LIST), min(self._theme.px(LIST_WIDTH), self.width() * 2 // 5, rest))
            self._split.setSizes([left, self.width() - left])

    def _keep_sizes(self) -> None:
        self._sized = True

    def _build_empty(self) -> EmptyState:
        clear = TextButton(self._theme, self.tr("Clear the search"), "x")
        clear.setObjectName("clearSearch")
        clear.clicked.connect(self._start_over)
        self._empty = EmptyState(
            self._theme,
            "magnifying-glass",
            self.tr("Nothing was found"),
            self.tr(
                "Fewer words or fewer filters find more. A repository's whole name, owner/name, is opened by Enter."
            ),
            (clear,),
        )
        return self._empty

    def _connect(self) -> None:
        self._split.splitterMoved.connect(self._keep_sizes)
        self._theme.changed.connect(self._size_list)
        self.bar.changed.connect(self._ask)
        self.bar.entered.connect(self._enter)
        self.bar.left.connect(self._to_list)
        self.list.chosen.connect(self._open)
        self.list.entered.connect(self._open_and_go)
        self.list.end_near.connect(self._more)
        self.list.above_wanted.connect(self.bar.focus)
        for signal in (self._hub.results_changed, self._hub.catalogue_changed, self._library.models_changed):
            signal.connect(self._refresh)
        self.pane.load_wanted.connect(self.load_requested)
        self.pane.downloads_wanted.connect(self.downloads_wanted)
        self.pane.started.connect(self.started)

    # ---- asking

    def focus(self) -> None:
        """Give the keyboard to the search field."""
        self.bar.focus()

    def open_repo(self, text: str) -> None:
        """Show the repository that ``text`` names (see `engine.library.address`)."""
        self.bar.edit.setText(text)
        self._enter()

    def look_again(self) -> None:
        """Ask the Hub again for what is shown."""
        if self.pane.repo:
            self._hub.refresh()
        elif not self.bar.idle:
            self._hub.retry()

    def _ask(self, now: bool) -> None:
        if self.bar.idle:
            self._hub.cancel()
        else:
            self._hub.search(self.bar.query, now)
        self._refresh()

    def _enter(self) -> None:
        """An address opens its repository; anything else is searched for at once."""
        text = self.bar.edit.text().strip()
        try:
            repo = parse_repo(text).repo if "/" in text or text.startswith("hf:") else ""
        except VrambleError as error:
            self._messages.show_error(error)
            return
        if repo:
            self._messages.clear()
            self._hub.open(text)
            self.pane.show_repo(repo)
            self.pane.focus()
        elif text:
            self._ask(True)
        else:
            self.bar.browse()

    def _more(self) -> None:
        if not self.bar.idle and self._hub.has_more and not self._hub.searching and self._hub.problem is None:
            self._hub.more()

    def _start_over(self) -> None:
        self.bar.clear()
        self.bar.focus()

    # ---- showing

    def _refresh(self) -> None:
        rows = catalogue_rows(self._hub) if self.bar.idle else list(self._hub.results)
        self.list.found.set_rows(rows)
        waits = not self.bar.idle and self._hub.searching
        problem = None if self.bar.idle else self._hub.problem
        nothing = not rows and not waits and problem is None and not self.bar.idle
        self._found.setCurrentIndex(1 if nothing else 0)
        (self._late.show if waits else self._late.hide)()
        self._show_problem(problem)
        waiting = words.waits(problem, self._hub.wait_left)
        self._state.setText("" if self.bar.idle else waiting or told(self._hub))
        self.list.look_at_end()

    def _show_problem(self, problem: VrambleError | None) -> None:
        shown = self._messages.notice
        if problem is None:
            if shown is not None and shown.key == "search":
                self._messages.clear()
            return
        kept = bool(self._hub.results)
        text = words.sentence(problem, self._hub.wait_left)
        text += " " + self.tr("What is shown was kept earlier.") if kept else ""
        if shown is None or shown.text != text:
            severity = Severity.WARN if kept else Severity.ERROR
            again = Action(self.tr("Try again"), self._hub.retry)
            self._messages.show_notice(Notice("search", severity, text, problem.detail, (again,)))

    def _is_here(self, repo: str) -> bool:
        return any(model.repo == repo for model in self._library.models)

    # ---- choosing

    def _open(self, row: Row | None) -> None:
        if isinstance(row, RepoSummary | CatalogueModel):
            if row.repo != self.pane.repo:
                self._hub.open(row.repo)
            summary = row if isinstance(row, RepoSummary) else None
            self.pane.show_repo(row.repo, summary, row if isinstance(row, CatalogueModel) else self._known(row.repo))

    def _known(self, repo: str) -> CatalogueModel | None:
        return next((one for one in self._hub.catalogue if one.repo == repo), None)

    def _open_and_go(self, row: Row | None) -> None:
        self._open(row)
        if self.pane.repo:
            self.pane.focus()

    def _to_list(self) -> None:
        first = self.list.first()
        if first is not None:
            if self.list.row() is None:
                self.list.choose(first)
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)
