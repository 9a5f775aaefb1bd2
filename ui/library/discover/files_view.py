"""The files of a repository: a table with a button for each entry, and what is to be said about the chosen one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.fit.badges import UNKNOWN, FitBadges
from engine.library.listing import RepoListing
from ui.library.discover.entries import Entry, Status, Where
from ui.library.discover.entry_foot import EntryFoot
from ui.library.discover.files_model import ROW_ROLE, Column, FilesModel
from ui.library.fit_column import FitColumn
from ui.library.fit_sheet import FitSheet
from ui.library.table_view import TableView
from ui.theme import SPACE_S, TARGET_SIZE, Theme
from ui.widgets.text_button import TextButton

WIDTHS = (128, 80, 190, 150, 146)
LEAST_ROWS = 4
"""Rows with the header that are always seen; below that the page scrolls."""


class FilesView(QWidget):
    """Enter or the button of a row gets it.

    Attributes:
        get_wanted: An `Entry` should be downloaded.
        load_wanted: Path of an installed model.
        downloads_wanted: Its download should be shown.
    """

    get_wanted = Signal(object)
    load_wanted = Signal(object)
    downloads_wanted = Signal()

    def __init__(
        self,
        theme: Theme,
        badges: FitBadges | None,
        status: Callable[[RepoListing, Entry], Status],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._badges, self._status = theme, badges, status
        self._listing: RepoListing | None = None
        self._buttons: list[TextButton] = []
        self._shown: list[Status] = []
        self._build_table()
        self.foot = EntryFoot(theme)
        self.foot.changed.connect(self._show_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_S)
        column.addWidget(self.view, 1)
        column.addWidget(self.foot)
        theme.changed.connect(self._size_buttons)
        theme.changed.connect(self._limit)
        self._limit()

    def _limit(self) -> None:
        self.view.setMinimumHeight(LEAST_ROWS * self._theme.px(TARGET_SIZE + 2))

    def _build_table(self) -> None:
        self._table = FilesModel(self._theme, self)
        self.view = TableView(self._theme, WIDTHS, Column.FIT, (Column.QUALITY,))
        self.view.setObjectName("filesTable")
        self.view.setAccessibleName(self.tr("Files of the repository"))
        self.view.setModel(self._table)
        self.view.fit()
        self.view.selectionModel().selectionChanged.connect(self._show_chosen)
        self.view.enter_pressed.connect(lambda: self._act(self.view.chosen().row()))
        self.view.doubleClicked.connect(lambda index: self._act(index.row()))
        badges = self._badges
        if badges is None:
            self.view.setColumnHidden(Column.FIT, True)
            return
        self._table.set_fit(
            lambda entry: badges.of_file(self._listing, entry.file) if self._listing is not None else UNKNOWN
        )
        badges.changed.connect(self._refit)
        self._fit = FitColumn(self.view, Column.FIT, Column.SIZE, self._look_at, self._refit, self._explain)
        self.view.selectionModel().selectionChanged.connect(self._fit.look_soon)

    # ---- showing

    @property
    def chosen(self) -> Entry | None:
        """The entry that is selected."""
        index = self.view.chosen()
        entry: Entry | None = index.data(ROW_ROLE) if index.isValid() else None
        return entry

    def show_entries(self, listing: RepoListing, entries: Sequence[Entry], wanted: str | None = None) -> None:
        """Show other entries; the one with the path ``wanted`` is chosen, else the usual one."""
        before = self.chosen if self._listing is not None and self._listing.repo == listing.repo else None
        if self._badges is not None and before is None:
            self._badges.leave_files()
        self._listing = listing
        if self._table.set_rows(tuple(entries)):
            self._make_buttons()
            self.view.choose(self._first(wanted, before))
        self.refresh()
        if self._badges is not None:
            self._fit.look_soon()

    def refresh(self) -> None:
        """Downloads and installed models may be others now."""
        if self._listing is None:
            return
        found = [self._status(self._listing, entry) for entry in self._table.rows]
        for number, (status, button) in enumerate(zip(found, self._buttons, strict=True)):
            if number >= len(self._shown) or self._shown[number] != status:
                self._show_status(self._table.rows[number], status, button)
        self._shown = found
        self._show_chosen()

    def focus(self) -> None:
        """Give the keyboard to the table."""
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def _first(self, wanted: str | None, before: Entry | None) -> int:
        rows = self._table.rows
        paths = [{part.path for part in row.file.parts} for row in rows]
        quants = [row.file.quant.casefold() for row in rows]
        for path in (wanted, before.file.path if before is not None else None):
            if path is not None:
                for number, known in enumerate(paths):
                    if path in known or path.casefold() == quants[number]:
                        return number
        return next((number for number, row in enumerate(rows) if row.usual), 0)

    def _make_buttons(self) -> None:
        self._buttons, self._shown = [], []
        for number, entry in enumerate(self._table.rows):
            button = TextButton(self._theme, "", "download-simple", role="quiet")
            button.setObjectName(f"get-{entry.name}")
            button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            button.clicked.connect(partial(self._pressed, number))
            self.view.setIndexWidget(self._table.index(number, Column.GET), button)
            self._buttons.append(button)
        self._size_buttons()

    def _size_buttons(self) -> None:
        for button in self._buttons:
            button.setMinimumHeight(self._theme.px(TARGET_SIZE))

    def _show_status(self, entry: Entry, status: Status, button: TextButton) -> None:
        text, icon = {
            Where.NEW: (self.tr("Download"), "download-simple"),
            Where.COMING: (self.tr("Downloading"), "arrow-right"),
            Where.STOPPED: (self.tr("Resume"), "play"),
            Where.HERE: (self.tr("Load"), "play-circle"),
        }[status.where]
        if status.where is Where.COMING and status.percent is not None:
            text = self.tr("{0} % here").format(status.percent)
        usable = status.where is not Where.HERE or (status.model is not None and status.model.can_chat)
        button.setText(text if usable else self.tr("Installed"))
        button.set_icon(icon if usable else "check")
        button.setEnabled(usable)
        button.setAccessibleName(f"{button.text()}: {entry.name}")

    def _show_chosen(self) -> None:
        entry, listing = self.chosen, self._listing
        if entry is None or listing is None:
            self.foot.show_nothing()
            return
        self.foot.show_entry(entry, self._table.badge(entry), self._status(listing, entry))

    def _refit(self) -> None:
        self._table.refit()
        self._show_chosen()

    # ---- doing

    def _pressed(self, number: int) -> None:
        self.view.choose(number)
        self._act(number)

    def _act(self, number: int) -> None:
        """What the button of a row says."""
        if not 0 <= number < len(self._table.rows) or self._listing is None:
            return
        entry = self._table.rows[number]
        status = self._status(self._listing, entry)
        if status.where is Where.COMING:
            self.downloads_wanted.emit()
        elif status.where is not Where.HERE:
            self.get_wanted.emit(entry)
        elif status.model is not None and status.model.can_chat:
            self.load_wanted.emit(status.model.path)

    def _look_at(self, rows: range) -> None:
        if self._badges is not None and self._listing is not None:
            seen = [self._table.rows[row].file for row in rows if row < len(self._table.rows)]
            chosen = self.chosen
            self._badges.look_at_files(self._listing, seen, chosen.file if chosen is not None else None)

    def _explain(self, row: int, cell: QRect) -> None:
        listing, badges = self._listing, self._badges
        entry = self._table.rows[row]
        if badges is None or listing is None or entry.file.companion:
            return
        other = badges.smaller_file(listing, entry.file)
        sheet = FitSheet(
            self._theme,
            entry.name,
            badges.of_file(listing, entry.file),
            badges.suggestions_for_file(listing, entry.file),
            self,
            installed=False,
            other=(other.quant or other.path) if other is not None else "",
        )
        if other is not None:
            path = other.path
            sheet.other_wanted.connect(lambda: self.view.choose(self._first(path, None)))
        sheet.open_at(cell)
