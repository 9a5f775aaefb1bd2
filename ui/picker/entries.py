"""The list of a folder: keys and taps."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from ui.picker.model import ENTRY_ROLE, EntriesModel
from ui.picker.row_paint import RowDelegate
from ui.theme import Theme


class Entries(QListView):
    """Enter or a tap opens a folder, Enter takes a file, a tap chooses it, Backspace goes up.

    Attributes:
        opened: An entry was opened.
        up_wanted: The folder above.
    """

    opened = Signal(object)
    up_wanted = Signal()

    def __init__(self, entries: EntriesModel, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pickerList")
        self.setProperty("role", "bare")  # the row has the ring
        self.setAccessibleName(self.tr("Folders and files"))
        self.setModel(entries)
        self.setItemDelegate(RowDelegate(theme, self._takes_several, self))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.clicked.connect(self._tapped)

    def choose_mode(self, *, several: bool) -> None:
        """Whether several files can be chosen: each tap, or Space, chooses one more."""
        modes = QAbstractItemView.SelectionMode
        self.setSelectionMode(modes.MultiSelection if several else modes.SingleSelection)

    def point_at(self, row: int) -> None:
        """Make it the current row without choosing a file that nobody chose."""
        index = self.model().index(row, 0)
        flags = QItemSelectionModel.SelectionFlag
        self.selectionModel().setCurrentIndex(index, flags.NoUpdate)
        self.scrollTo(index)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex().data(ENTRY_ROLE))
        elif event.key() == Qt.Key.Key_Backspace:
            self.up_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _takes_several(self) -> bool:
        return self.selectionMode() is QAbstractItemView.SelectionMode.MultiSelection

    def _tapped(self) -> None:
        entry = self.currentIndex().data(ENTRY_ROLE)
        if entry is not None and entry.is_folder:
            self.opened.emit(entry)
