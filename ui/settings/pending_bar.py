"""One line at the foot of the window: what the running engine has not got yet, and the button that gives it."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.worker.changes import EngineChanges
from ui.settings.row import plain_label
from ui.theme import ICON_SIZE, SPACE_L, SPACE_M, SPACE_S, Theme
from ui.widgets.empty_state import Emblem
from ui.widgets.text_button import TextButton


class PendingBar(QWidget):
    """Hidden while the engine has everything.

    Attributes:
        left: It went away while it had the focus.
    """

    left = Signal()

    def __init__(self, theme: Theme, changes: EngineChanges, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._changes = changes
        self.setObjectName("pendingBar")
        self._text = plain_label()
        self._button = TextButton(theme, "", "arrow-clockwise")
        self._button.setObjectName("restartEngine")
        self._button.clicked.connect(self._act)
        card = QFrame()
        card.setProperty("role", "notice")
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_M)
        column.addWidget(card)
        row = QHBoxLayout(card)
        row.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        row.setSpacing(SPACE_S)
        row.addWidget(Emblem(theme, "info", size=ICON_SIZE))
        row.addWidget(self._text, 1)
        row.addWidget(self._button)
        changes.changed.connect(self.refresh)
        self.hide()

    def text(self) -> str:
        """The sentence that is shown."""
        return self._text.text()

    def refresh(self) -> None:
        """Show what is true now. Called first when it is in its window."""
        changes = self._changes
        needed = changes.restart_needed or changes.reload_needed
        if not needed and self._button.hasFocus():
            self.left.emit()
        self.setVisible(needed)
        if not needed:
            return
        if changes.busy:
            text = self.tr("An answer is being written. This ends it; what is there stays.")
            button = self.tr("End it and restart") if changes.restart_needed else self.tr("End it and load again")
        elif changes.restart_needed:
            text = self.tr("The engine that runs was started with other settings.")
            if changes.has_model:
                text += " " + self.tr("The model is loaded again after a restart.")
            button = self.tr("Restart engine now")
        else:
            text = self.tr("The loaded model keeps its options until it is loaded again.")
            button = self.tr("Load again now")
        self._text.setText(text)
        self._button.setText(button)
        self._button.setEnabled(not changes.loading)

    def _act(self) -> None:
        self._changes.restart()
