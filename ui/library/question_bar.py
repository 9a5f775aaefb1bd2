"""A question inside the window: one sentence, a button that does it, one that does not."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QWidget

from ui.theme import SPACE_M, SPACE_S, Theme
from ui.widgets.text_button import TextButton


class QuestionBar(QFrame):
    """Hidden until `ask`. Escape means no.

    Attributes:
        answered: The question is gone.
    """

    answered = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._yes: Callable[[], None] | None = None
        self.setObjectName("questionBar")
        self.setProperty("role", "notice")
        self.setProperty("severity", "warn")
        self._text = QLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setWordWrap(True)
        self._do = TextButton(theme, "", role="danger")
        self._do.setObjectName("confirmButton")
        self._keep = TextButton(theme, self.tr("Keep it"))
        self._keep.setObjectName("keepButton")
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, SPACE_S)
        row.setSpacing(SPACE_S)
        row.addWidget(self._text, 1)
        row.addWidget(self._keep)
        row.addWidget(self._do)
        self._do.clicked.connect(self._agree)
        self._keep.clicked.connect(self.close_question)
        self.hide()

    def ask(self, text: str, label: str, yes: Callable[[], None]) -> None:
        """Show the question; ``yes`` runs when the button called ``label`` is pressed."""
        self._yes = yes
        self._text.setText(text)
        self._do.setText(label)
        self.setAccessibleName(text)
        self.show()
        self._keep.setFocus(Qt.FocusReason.OtherFocusReason)

    def close_question(self) -> None:
        """Withdraw the question."""
        if not self.isHidden():
            self._yes = None
            self.hide()
            self.answered.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape means no."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_question()
        else:
            super().keyPressEvent(event)

    def _agree(self) -> None:
        yes = self._yes
        self.close_question()
        if yes is not None:
            yes()
