"""The table of models: filtered by folder and words, with fit badges."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QWidget

from app.fit.badges import UNKNOWN, Badge, FitBadges
from app.library.service import InstalledModel
from ui.library.fit_column import FitColumn
from ui.library.fit_sheet import FitSheet
from ui.library.keep.columns import Column
from ui.library.keep.models_table import ModelsTable
from ui.library.row_badges import RowBadges
from ui.library.table_view import TableView
from ui.theme import Theme

WIDTHS = (180, 114, 82, 204, 76, 102, 134, 100, 116, 112, 120)
KNOWN_MORE_MS = 200
"""While headers are read, something new is known all the time."""
LEFT_OUT = (
    Column.SOURCE,
    Column.LICENCE,
    Column.ARCHITECTURE,
    Column.PARAMETERS,
    Column.CONTEXT,
    Column.USED,
    Column.QUANT,
    Column.SIZE,
)
"""In this order, where there is no room; the lines below the table have them too."""


class ModelsView(TableView):
    """Enter loads, Shift+Enter asks for options, Delete deletes, the space bar explains the badge.

    Attributes:
        chosen_changed: Another model is selected.
        plan_requested: Path of a model, and the load options to begin the choice with.
        menu_wanted: What can be done with the selected model, as a menu at this place of the screen.
    """

    chosen_changed = Signal()
    plan_requested = Signal(object, object)
    menu_wanted = Signal(QPoint)

    def __init__(self, theme: Theme, badges: FitBadges | None, parent: QWidget | None = None) -> None:
        super().__init__(theme, WIDTHS, Column.NAME, LEFT_OUT, parent)
        self._own_theme, self._badges = theme, badges
        self.table = ModelsTable(theme, self)
        self.setObjectName("installedTable")
        self.setAccessibleName(self.tr("Models on this computer"))
        self.setModel(self.table)
        self.setSortingEnabled(True)
        self.sortByColumn(Column.NAME, Qt.SortOrder.AscendingOrder)
        self.fit()
        self.selectionModel().selectionChanged.connect(lambda *_what: self.chosen_changed.emit())
        self._watch_fit()

    def _watch_fit(self) -> None:
        badges = self._badges
        if badges is None:
            self.setColumnHidden(Column.FIT, True)
            return
        self._row_badges = RowBadges(self._badge_of, self)
        self._row_badges.changed.connect(self.table.badges_changed)
        self._row_badges.settled.connect(self._badges_settled)
        self.table.set_badges(self._row_badges.find)
        self._known_more = QTimer(self)
        self._known_more.setSingleShot(True)
        self._known_more.setInterval(KNOWN_MORE_MS)
        self._known_more.timeout.connect(self._refit)
        badges.changed.connect(lambda: None if self._known_more.isActive() else self._known_more.start())
        self._fit = FitColumn(self, Column.FIT, Column.SIZE, self._look_at, self._refit, self._explain)
        self.horizontalHeader().sortIndicatorChanged.connect(self._sorted)

    # ---- rows

    def narrow(self, root: str, words: str) -> None:
        """Show models of ``root`` ("" all) with all ``words``."""
        self.table.narrow(root, words)
        self.choose_path(None)

    def model_at(self, row: int) -> InstalledModel:
        """The record of a row of the view."""
        return self.table.shown[row]

    @property
    def chosen_model(self) -> InstalledModel | None:
        """The one that is selected."""
        index = self.chosen()
        return self.model_at(index.row()) if index.isValid() else None

    @property
    def count(self) -> int:
        """Rows that are shown."""
        return len(self.table.shown)

    def choose_path(self, path: Path | None) -> None:
        """Select the row of ``path``, else keep what is selected, else the first that can be loaded."""
        found = self.table.row_of(path)
        if found is None and self.count and not self.chosen().isValid():
            found = next((row for row, model in enumerate(self.table.shown) if model.can_chat), 0)
        if found is not None:
            self.choose(found)
        self.chosen_changed.emit()

    def look_soon(self) -> None:
        """Other rows may be seen now."""
        if self._badges is not None:
            self._fit.look_soon()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """A menu for the row below the pointer, or for the selected one by keyboard."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.chosen()
        if index.isValid():
            self.choose(index.row())
            self.menu_wanted.emit(event.globalPos())

    # ---- badges

    def _look_at(self, rows: range) -> None:
        if self._badges is not None:
            self._badges.look_at(self._paths(rows))

    def _paths(self, rows: range) -> list[Path]:
        """Of the rows that can have a badge."""
        return [model.path for model in self.table.shown[rows.start : rows.stop] if model.can_chat]

    def _refit(self) -> None:
        """What is seen, and where the rows are sorted by it also what is not known yet."""
        wanted = self._paths(self.seen_rows())
        if self._sorted_by_fit:
            every = self._paths(range(self.count))
            wanted += (path for path in every if self._row_badges.find(path).plan is None)
        self._row_badges.want(wanted)

    def _badges_settled(self) -> None:
        if self._sorted_by_fit:
            self.table.sort_again()

    @property
    def _sorted_by_fit(self) -> bool:
        return self.table.order.column is Column.FIT

    def _sorted(self, column: int) -> None:
        if column == Column.FIT:
            self._row_badges.want(self._paths(range(self.count)))

    def _badge_of(self, path: Path) -> Badge:
        """Of a row that is seen, or of any when the rows are sorted by it: then its header has to be read."""
        if self._badges is None:
            return UNKNOWN
        if self._sorted_by_fit:
            self._badges.look_at((path,))
        return self._badges.of_installed(path)

    def _explain(self, row: int, cell: QRect) -> None:
        model = self.model_at(row)
        if self._badges is None or not model.can_chat:
            return
        badge = self._badges.of_installed(model.path)
        sheet = FitSheet(self._own_theme, model.label, badge, self._badges.suggestions_for(model.path), self)
        sheet.chosen.connect(lambda options: self.plan_requested.emit(model.path, options))
        sheet.open_at(cell)
