"""The line above the box that says that a sent message is being edited."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from ui.theme import ICON_SIZE, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import Emblem
from ui.widgets.icon_button import IconButton


class EditingBar(QFrame):
    """Hidden while nothing is edited.

    Attributes:
        cancelled: The message should stay as it is.
    """

    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("editingBar")
        self.setProperty("role", "chip")
        self._words = ElidedLabel()
        self.say("")
        cancel = IconButton(theme, "x", self.tr("Stop editing"), shortcut=self.tr("Esc"))
        cancel.setObjectName("cancelEditButton")
        cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_S, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(Emblem(theme, "pencil-simple", size=ICON_SIZE))
        row.addWidget(self._words, 1)
        row.addWidget(cancel)
        self.hide()

    def say(self, words: str) -> None:
        """What is edited, and what will become of it; "": a sent message."""
        self._words.setText(words or self.tr("Editing a sent message. Sending asks again; the earlier version stays."))
