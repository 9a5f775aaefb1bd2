"""The box a message is typed into."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QInputMethodEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

MOST_LINES = 8
LARGE_TEXT = 20_000
"""Characters. What would make the box larger than this becomes a chip: laying it out would stop the window."""


class MessageEdit(QPlainTextEdit):
    """Plain text that grows to eight lines. Enter submits, Shift+Enter breaks the line, Tab leaves.

    Attributes:
        submitted: Enter was pressed, and no input method was composing.
        large_pasted: Text that is too much for the box.
        up_pressed: The up key was pressed in the empty box.
        escaped: Escape was pressed while `takes_escape`.
        focus_changed: The box has the focus now, or lost it.
    """

    submitted = Signal()
    large_pasted = Signal(str)
    focus_changed = Signal(bool)
    up_pressed = Signal()
    escaped = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preedit = ""
        self.takes_escape = False
        self.setProperty("role", "bare")
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(0)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self._fit()

    def take_text(self, text: str) -> None:
        """Insert ``text`` at the cursor, or report it as too large."""
        if self.document().characterCount() + len(text) > LARGE_TEXT:
            self.large_pasted.emit(text)
        else:
            self.insertPlainText(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter submits unless it belongs to the input method or breaks the line."""
        if event.key() == Qt.Key.Key_Up and not self._preedit and self.document().isEmpty():
            self.up_pressed.emit()
        elif event.key() == Qt.Key.Key_Escape and self.takes_escape:
            self.escaped.emit()
        elif event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
        elif self._preedit:
            event.accept()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.insertPlainText("\n")
            self.ensureCursorVisible()
        elif event.isAutoRepeat():
            event.accept()
        else:
            self.submitted.emit()

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        """Remember what is being composed."""
        self._preedit = event.preeditString()
        super().inputMethodEvent(event)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Only text can be pasted or dropped."""
        return source.hasText()

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste or drop, without any formatting."""
        if source.hasText():
            self.take_text(source.text().replace("\r\n", "\n").replace("\0", ""))
            self.ensureCursorVisible()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Tell the frame."""
        super().focusInEvent(event)
        self.focus_changed.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Tell the frame."""
        super().focusOutEvent(event)
        self.focus_changed.emit(False)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower box has more lines."""
        super().resizeEvent(event)
        self._fit()

    def sizeHint(self) -> QSize:
        """Wide, and as high as the text needs."""
        return QSize(400, self._wanted_height())

    def _wanted_height(self) -> int:
        lines = round(self.document().size().height())
        return ceil(min(MOST_LINES, max(1, lines)) * self._line_height())

    def _line_height(self) -> float:
        first = self.document().firstBlock()
        lines = first.layout().lineCount()
        return self.blockBoundingRect(first).height() / lines if lines else self.fontMetrics().lineSpacing()

    def _fit(self) -> None:
        many = round(self.document().size().height()) > MOST_LINES
        policy = Qt.ScrollBarPolicy.ScrollBarAsNeeded if many else Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(policy)
        if self.height() != self._wanted_height():
            self.setFixedHeight(self._wanted_height())
