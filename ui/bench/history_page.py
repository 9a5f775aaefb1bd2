"""Earlier benchmarks: whether an update made a difference."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from app.bench.archive import Archive
from engine.bench.records import Report
from ui.bench import rows
from ui.bench.cells import KEY_ROLE, CellTable, CellView
from ui.settings.row import plain_label
from ui.theme import SPACE_M, SPACE_S, Theme
from ui.widgets.empty_state import EmptyState


class HistoryPage(QWidget):
    """The reports, the newest first.

    Attributes:
        chosen: A `Report` that should be shown.
    """

    chosen = Signal(object)

    def __init__(self, archive: Archive, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._archive = archive
        self._table = CellTable(theme, rows.history_titles(), 4, 7)
        self._view = CellView(theme, self._table, self.tr("Earlier benchmarks"), 1, scroll=True)
        self._view.setObjectName("benchHistory")
        self._view.doubleClicked.connect(lambda index: self._open(index.row()))
        empty = EmptyState(
            theme,
            "clock-counter-clockwise",
            self.tr("Nothing measured yet"),
            self.tr("Each benchmark is kept here, so that an update of the engine or of the driver shows its effect."),
        )
        hint = self.tr("Double-click or Enter shows one. A change is against the last one of the same kind.")
        filled = QWidget()
        inside = QVBoxLayout(filled)
        inside.setContentsMargins(0, SPACE_M, 0, 0)
        inside.setSpacing(SPACE_S)
        inside.addWidget(self._view, 1)
        inside.addWidget(plain_label(hint, "muted"))
        self._pages = QStackedLayout(self)
        for page in (empty, filled):
            self._pages.addWidget(page)
        archive.changed.connect(self._refresh)
        self._refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter shows the current one."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._view.currentIndex().isValid():
            self._open(self._view.currentIndex().row())
        else:
            super().keyPressEvent(event)

    def _open(self, row: int) -> None:
        report = self._table.index(row, 0).data(KEY_ROLE)
        if isinstance(report, Report):
            self.chosen.emit(report)

    def _refresh(self) -> None:
        self._table.set_rows(rows.history_rows(self._archive.reports))
        self._pages.setCurrentIndex(1 if self._archive.reports else 0)
