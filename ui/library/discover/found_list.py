"""The list at the left of Discover: loads more while it is scrolled, Enter goes to the files."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QToolTip, QWidget

from app.fit.badges import UNKNOWN, Badge, FitBadges
from engine.hub.records import CatalogueModel
from ui.library.discover.found import ROW_ROLE, FoundModel, Heading, Row, spoken
from ui.library.discover.found_delegate import FoundDelegate
from ui.theme import Theme
from ui.widgets.elided_label import plain_tooltip

SETTLED_MS = 180
"""A row that the keyboard only passes is not opened."""
AHEAD = 2
"""Views; so far above the end more is asked for."""


class FoundList(QListView):
    """Rows of `FoundModel`.

    Attributes:
        chosen: The row that is selected has stood still.
        entered: Enter on a row.
        end_near: More rows would be seen soon.
        above_wanted: Up was pressed on the first row.
    """

    chosen = Signal(object)
    entered = Signal(object)
    end_near = Signal()
    above_wanted = Signal()

    def __init__(self, theme: Theme, badges: FitBadges | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._badges = theme, badges
        self._known: dict[str, Badge] = {}
        self.found = FoundModel(self)
        self.setModel(self.found)
        self.setObjectName("foundList")
        self.setAccessibleName(self.tr("Models that were found"))
        self.delegate = FoundDelegate(theme, self._badge, self)
        self.setItemDelegate(self.delegate)
        self.setMouseTracking(True)
        self.setUniformItemSizes(False)
        self.setResizeMode(QListView.ResizeMode.Adjust)  # rows are higher where the list is narrow
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(SETTLED_MS)
        self._settled.timeout.connect(lambda: self.chosen.emit(self.row()))
        self.verticalScrollBar().valueChanged.connect(self._look_at_end)
        self.verticalScrollBar().rangeChanged.connect(self._look_at_end)
        self.selectionModel().selectionChanged.connect(self._selected)
        theme.changed.connect(self.scheduleDelayedItemsLayout)
        if badges is not None:
            badges.changed.connect(self._forget_badges)

    def row(self) -> Row | None:
        """The row that is selected."""
        indexes = self.selectedIndexes()
        row: Row | None = indexes[0].data(ROW_ROLE) if indexes else None
        return row

    def choose(self, number: int) -> None:
        """Select row ``number``."""
        self.setCurrentIndex(self.found.index(number, 0))

    def first(self) -> int | None:
        """The first row that is no heading."""
        return next((n for n, row in enumerate(self.found.rows) if not isinstance(row, Heading)), None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens; Up on the first row goes to the search field."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._settled.stop()
            self.entered.emit(self.row())
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() == self.first():
            self.above_wanted.emit()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A higher list may show its end."""
        super().resizeEvent(event)
        self._look_at_end()

    def viewportEvent(self, event: object) -> bool:
        """The whole row as a tooltip."""
        if isinstance(event, QHelpEvent):
            index = self.indexAt(event.pos())
            row = index.data(ROW_ROLE)
            QToolTip.showText(event.globalPos(), plain_tooltip(spoken(row)) if row is not None else "", self)
            return True
        return bool(super().viewportEvent(event))  # type: ignore[arg-type]

    def look_at_end(self) -> None:
        """Rows were added, or there may be more now."""
        QTimer.singleShot(0, self, self._look_at_end)

    def _look_at_end(self, *_what: int) -> None:
        bar = self.verticalScrollBar()
        if self.isVisible() and bar.maximum() - bar.value() < AHEAD * self.viewport().height():
            self.end_near.emit()

    def _selected(self) -> None:
        self._settled.start()

    def _badge(self, model: CatalogueModel) -> Badge:
        if self._badges is None:
            return UNKNOWN
        if model.repo not in self._known:
            listing = model.listing
            self._known[model.repo] = self._badges.of_file(listing, listing.files[0])
        return self._known[model.repo]

    def _forget_badges(self) -> None:
        self._known.clear()
        self.viewport().update()
