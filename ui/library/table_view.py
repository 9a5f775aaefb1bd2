"""Looks and habits that both tables share."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

from ui.theme import TARGET_SIZE, Theme

SIGN_SIZE = 18


class TableView(QTableView):
    """Rows of a comfortable height, one of them current; Tab leaves, Enter acts, Delete asks.

    Attributes:
        enter_pressed: Enter on the current row.
        shift_enter_pressed: The same with Shift.
        delete_pressed: Delete on the current row.
        shift_delete_pressed: The same with Shift.
        explain_pressed: The space bar on the current row.
        seen: Other rows may be visible now.
    """

    enter_pressed = Signal()
    shift_enter_pressed = Signal()
    delete_pressed = Signal()
    shift_delete_pressed = Signal()
    explain_pressed = Signal()
    seen = Signal()

    def __init__(
        self,
        theme: Theme,
        widths: tuple[int, ...],
        stretch: int,
        optional: tuple[int, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        """``widths`` in pixels at scale 1; column ``stretch`` takes the rest and has at least its own.

        Columns in ``optional`` are left out, in this order, where there is no room for all.
        """
        super().__init__(parent)
        self._theme, self._widths, self._stretch, self._optional = theme, widths, stretch, optional
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsMovable(False)
        header.setMinimumSectionSize(48)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Set heights and widths for the present text size; once a model is there."""
        self.verticalHeader().setDefaultSectionSize(self._theme.px(TARGET_SIZE + 2))
        self.setIconSize(QSize(self._theme.px(SIGN_SIZE), self._theme.px(SIGN_SIZE)))
        header = self.horizontalHeader()
        for column, width in enumerate(self._widths[: header.count()]):
            mode = QHeaderView.ResizeMode.Stretch if column == self._stretch else QHeaderView.ResizeMode.Interactive
            header.setSectionResizeMode(column, mode)
            if column != self._stretch:
                header.resizeSection(column, self._theme.px(width))

        self._leave_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many columns as there is room for."""
        super().resizeEvent(event)
        self._leave_out()
        self.seen.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Rows are seen."""
        super().showEvent(event)
        self.seen.emit()

    def seen_rows(self) -> range:
        """The rows that are visible, at least in part."""
        if self.model() is None or not self.model().rowCount():
            return range(0)
        last = self.rowAt(self.viewport().height() - 1)
        return range(max(0, self.rowAt(0)), (self.model().rowCount() - 1 if last < 0 else last) + 1)

    def _leave_out(self) -> None:
        room = self.viewport().width()
        needed = sum(self._theme.px(width) for width in self._widths)
        for column in self._optional:
            hide = needed > room
            self.setColumnHidden(column, hide)
            if hide:
                needed -= self._theme.px(self._widths[column])
        self.updateGeometries()

    def choose(self, row: int) -> None:
        """Make ``row`` current and selected."""
        index = self.model().index(row, 0)
        flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
        self.selectionModel().setCurrentIndex(index, flags)

    def chosen(self) -> QModelIndex:
        """The selected row's first cell; invalid when there is none."""
        rows = self.selectionModel().selectedRows()
        return rows[0] if rows else QModelIndex()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Delete belong to the page."""
        shifted = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            (self.shift_enter_pressed if shifted else self.enter_pressed).emit()
        elif event.key() == Qt.Key.Key_Delete:
            (self.shift_delete_pressed if shifted else self.delete_pressed).emit()
        elif event.key() == Qt.Key.Key_Space:
            self.explain_pressed.emit()
        else:
            super().keyPressEvent(event)
