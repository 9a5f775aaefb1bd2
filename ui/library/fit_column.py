"""What a table with fit badges does beside showing them: asks for the rows that are seen, and opens the sum."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QColor

from app.fit.badges import Badge
from ui.library import fit_words
from ui.library.table_view import TableView
from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

SETTLED_MS = 120
"""Rows that only fly by are not asked for."""

LIVE_MS = 3000
"""Other programs take memory and give it back."""


def badge_data(badge: Badge, theme: Theme, role: int) -> object:
    """What a cell with a badge shows."""
    look = fit_words.look_of(badge)
    if role == Qt.ItemDataRole.DisplayRole:
        return look.text
    if role == Qt.ItemDataRole.DecorationRole:
        return theme.icon(look.icon, look.tint)
    if role == Qt.ItemDataRole.ForegroundRole:
        return QColor(getattr(theme.tokens, look.tint))
    if role == Qt.ItemDataRole.ToolTipRole:
        return plain_tooltip(fit_words.tooltip(badge))
    return None


class FitColumn(QObject):
    """Watches ``view``.

    Args:
        column: The column with badges, which is shown behind the column ``behind``.
        look_at: Called with the rows of the view that are seen, when they have stood still.
        show: Brings the badges up to date.
        explain: Opens the sum of a row below the given place on the screen.
    """

    def __init__(
        self,
        view: TableView,
        column: int,
        behind: int,
        look_at: Callable[[range], None],
        show: Callable[[], None],
        explain: Callable[[int, QRect], None],
    ) -> None:
        super().__init__(view)
        self._view, self._column, self._look_at, self._show, self._explain = view, column, look_at, show, explain
        header = view.horizontalHeader()
        header.moveSection(header.visualIndex(column), behind + 1)
        self._settled, self._live = QTimer(self), QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(self._look)
        self._live.setInterval(LIVE_MS)
        self._live.timeout.connect(self._refresh)
        self._live.start()
        view.verticalScrollBar().valueChanged.connect(self.look_soon)
        view.seen.connect(self.look_soon)
        view.clicked.connect(self._clicked)
        view.explain_pressed.connect(self._pressed)

    def look_soon(self) -> None:
        """Other rows may be seen now."""
        self._settled.start()

    def _look(self) -> None:
        if self._view.isVisible():
            self._look_at(self._view.seen_rows())
            self._show()

    def _refresh(self) -> None:
        if self._view.isVisible() and not self._view.window().isMinimized():
            self._show()

    def _clicked(self, index: QModelIndex) -> None:
        if index.column() == self._column:
            self._open(index)

    def _pressed(self) -> None:
        chosen = self._view.chosen()
        if chosen.isValid():
            self._open(chosen.siblingAtColumn(self._column))

    def _open(self, index: QModelIndex) -> None:
        cell = self._view.visualRect(index)
        corner = self._view.viewport().mapToGlobal(cell.topLeft())
        self._explain(index.row(), QRect(corner, cell.size()))
