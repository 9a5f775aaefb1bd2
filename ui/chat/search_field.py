"""Where the query of a search over all conversations is typed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from ui.theme import Theme

WAIT_MS = 60
"""Of keys that follow each other closely only the last one asks."""


class SearchField(QLineEdit):
    """Asks while it is typed in. Escape empties it, Down goes to the results.

    Attributes:
        asked: The text to search for; "" ends the search.
        results_wanted: The keyboard should go to the results.
        left: Escape in an empty field.
    """

    asked = Signal(str)
    results_wanted = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("conversationSearch")
        self.setPlaceholderText(self.tr("Search"))
        self.setAccessibleName(self.tr("Search all conversations"))
        self.setToolTip(self.tr("Search all conversations (Ctrl+Shift+F)"))
        self.setClearButtonEnabled(True)
        self._icon = self.addAction(theme.icon("magnifying-glass"), QLineEdit.ActionPosition.LeadingPosition)
        theme.changed.connect(lambda: self._icon.setIcon(theme.icon("magnifying-glass")))
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(WAIT_MS)
        self._soon.timeout.connect(lambda: self.asked.emit(self.text()))
        self.textChanged.connect(self._changed)

    def event(self, event: QEvent) -> bool:
        """Claim Escape before it stops an answer."""
        override = event if event.type() is QEvent.Type.ShortcutOverride else None
        if isinstance(override, QKeyEvent) and override.key() == Qt.Key.Key_Escape:
            override.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape, Down and Enter; the rest is text."""
        if event.key() == Qt.Key.Key_Escape:
            if self.text():
                self.clear()
            else:
                self.left.emit()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.text().strip():
            self.results_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _changed(self, text: str) -> None:
        if text.strip():
            self._soon.start()
        else:
            self._soon.stop()
            self.asked.emit("")
