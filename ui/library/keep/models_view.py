"""The table of models: filtered by folder and words, with fit badges."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QWidget

from app.fit.badges import FitBadges
from app.library.service import InstalledModel
from ui.library.fit_column import FitColumn, UnknownLast
from ui.library.fit_sheet import FitSheet
from ui.library.keep.models_table import ROW_ROLE, SORT_ROLE, Column, ModelsTable
from ui.library.table_view import TableView
from ui.theme import Theme

WIDTHS = (180, 114, 82, 204, 76, 102, 134, 100, 116, 112, 120)
LEFT_OUT = (
    Column.SOURCE,
    Column.LICENCE,
    Column.ARCHITECTURE,
    Column.PARAMETERS,
    Column.CONTEXT,
    Column.USED,
    Column.QUANT,
)


class Narrowed(UnknownLast):
    """Rows of one folder that have all words in some cell."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._root = ""
        self._words: tuple[str, ...] = ()

    def narrow(self, root: str, words: str) -> None:
        """Show models of ``root`` ("" all) with all ``words``."""
        self.beginFilterChange()
        self._root, self._words = root, tuple(words.casefold().split())
        self.endFilterChange()

    def filterAcceptsRow(self, row: int, parent: QModelIndex | QPersistentModelIndex) -> bool:
        """See the class."""
        table = self.sourceModel()
        model: InstalledModel = table.index(row, 0, parent).data(ROW_ROLE)
        if self._root and model.root != self._root:
            return False
        if not self._words:
            return True
        cells = " ".join(str(table.index(row, column, parent).data() or "") for column in Column)
        text = f"{cells} {model.label} {model.repo or ''} {model.owner}".casefold()
        return all(word in text for word in self._words)


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
        self._proxy = Narrowed(self)
        self._proxy.setSourceModel(self.table)
        self._proxy.setSortRole(SORT_ROLE)
        self.setObjectName("installedTable")
        self.setAccessibleName(self.tr("Models on this computer"))
        self.setModel(self._proxy)
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
        self.table.set_fit(badges.of_installed)
        badges.changed.connect(self.table.refit)
        self._fit = FitColumn(self, Column.FIT, Column.SIZE, self._look_at, self.table.refit, self._explain)
        self.horizontalHeader().sortIndicatorChanged.connect(self._look_at_all)

    # ---- rows

    def narrow(self, root: str, words: str) -> None:
        """Show models of ``root`` ("" all) with all ``words``."""
        self._proxy.narrow(root, words)
        self.choose_path(None)

    def model_at(self, row: int) -> InstalledModel:
        """The record of a row of the view."""
        model: InstalledModel = self._proxy.index(row, 0).data(ROW_ROLE)
        return model

    @property
    def chosen_model(self) -> InstalledModel | None:
        """The one that is selected."""
        index = self.chosen()
        return self.model_at(index.row()) if index.isValid() else None

    @property
    def count(self) -> int:
        """Rows that are shown."""
        return self._proxy.rowCount()

    def choose_path(self, path: Path | None) -> None:
        """Select the row of ``path``, else keep what is selected, else the first that can be loaded."""
        rows = range(self.count)
        found = next((row for row in rows if path is not None and self.model_at(row).path == path), None)
        if found is None and self.count and not self.chosen().isValid():
            found = next((row for row in rows if self.model_at(row).can_chat), 0)
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
            seen = [self.model_at(row) for row in rows if row < self.count]
            self._badges.look_at(model.path for model in seen if model.can_chat)

    def _look_at_all(self, column: int) -> None:
        """To sort by it, all have to be known."""
        if column == Column.FIT:
            self._look_at(range(self.count))

    def _explain(self, row: int, cell: QRect) -> None:
        model = self.model_at(row)
        if self._badges is None or not model.can_chat:
            return
        badge = self._badges.of_installed(model.path)
        sheet = FitSheet(self._own_theme, model.label, badge, self._badges.suggestions_for(model.path), self)
        sheet.chosen.connect(lambda options: self.plan_requested.emit(model.path, options))
        sheet.open_at(cell)
