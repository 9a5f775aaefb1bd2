"""A line edit with a button that empties it; Escape does the same before it closes the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from ui.theme import TARGET_SIZE, Theme
from ui.widgets.icon_button import IconButton


class ClearEdit(QLineEdit):
    """A field to search with."""

    def __init__(self, theme: Theme, name: str, placeholder: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(name)
        self.setPlaceholderText(placeholder or name)
        self._clear = IconButton(theme, "x", self.tr("Clear"), tint="muted")
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._clear.setCursor(Qt.CursorShape.ArrowCursor)
        self._clear.clicked.connect(self._empty)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch()
        row.addWidget(self._clear)
        self.textChanged.connect(self._look)
        theme.changed.connect(self._look)
        self._look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the module."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self._empty()
        else:
            super().keyPressEvent(event)

    def _empty(self) -> None:
        self.clear()
        self.textEdited.emit("")
        self.setFocus()

    def _look(self) -> None:
        self._clear.setVisible(bool(self.text()))
        self.setTextMargins(0, 0, self._theme.px(TARGET_SIZE) if self.text() else 0, 0)
