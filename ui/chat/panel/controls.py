"""Controls of the panel that the settings do not have: decimals, numbers that may be absent, several lines of text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QDoubleSpinBox, QPlainTextEdit, QWidget

from ui.settings.controls import TEXT_MARGIN, Number
from ui.theme import Theme

WIDTH = 112
"""Of a number at scale 1."""


class Decimal(QDoubleSpinBox):
    """A number with decimals; typed text counts when it is finished.

    Attributes:
        chosen: The user took another value.
    """

    chosen = Signal(object)

    def __init__(
        self, theme: Theme, name: str, lowest: float, highest: float, step: float, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._quiet = False
        self.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)
        self.setAccessibleName(name)
        self.setDecimals(3 if step < 0.05 else 2)
        self.setRange(lowest, highest)
        self.setSingleStep(step)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.valueChanged.connect(self._tell)

    def sizeHint(self) -> QSize:
        """As wide as all numbers are."""
        return QSize(self._theme.px(WIDTH), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Never narrower."""
        return self.sizeHint()

    def textFromValue(self, value: float) -> str:
        """Without zeros at the end."""
        text = super().textFromValue(value)
        point = self.locale().decimalPoint()
        return text.rstrip("0").removesuffix(point) if point in text else text

    def show_value(self, value: float) -> None:
        """Show ``value`` without telling."""
        self._quiet = True
        self.setValue(value)
        self._quiet = False

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel turns the page, not the value."""
        event.ignore()

    def _tell(self, value: float) -> None:
        if not self._quiet:
            self.chosen.emit(round(value, self.decimals()))


class Whole(Number):
    """A whole number; where it may be absent (None), the lowest one stands for that and shows ``word``."""

    def __init__(
        self, theme: Theme, name: str, lowest: int, highest: int, *, word: str = "", parent: QWidget | None = None
    ) -> None:
        self._optional = bool(word)
        least = lowest - 1 if word else lowest
        super().__init__(theme, name, least, highest, word=word, width=WIDTH, parent=parent)
        self.setGroupSeparatorShown(False)

    def show_value(self, value: int | None) -> None:
        """Show ``value`` without telling."""
        super().show_value(self.minimum() if value is None else min(value, self.maximum()))

    def _tell(self, value: int) -> None:
        if not self._quiet:
            self.chosen.emit(None if self._optional and value == self.minimum() else value)


class Lines(QPlainTextEdit):
    """Some lines of text. Tab leaves.

    Attributes:
        chosen: The text is another one.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, name: str, hint: str, lines: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._lines = theme, lines
        self._quiet = False
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._tell)
        theme.changed.connect(self._fit)
        self._fit()

    def show_value(self, value: str) -> None:
        """Show ``value`` without telling; the caret stays when nothing changed."""
        if value != self.toPlainText():
            self._quiet = True
            self.setPlainText(value)
            self._quiet = False

    def _fit(self) -> None:
        self.setFixedHeight(round(self._lines * self._theme.px(22) + self._theme.px(20)))

    def _tell(self) -> None:
        if not self._quiet:
            self.chosen.emit(self.toPlainText())
