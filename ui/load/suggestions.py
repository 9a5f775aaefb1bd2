"""Changes with which a model would fit, as buttons."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from engine.memory.fit.records import Suggestion
from ui.load import words
from ui.theme import Theme
from ui.widgets.text_button import TextButton

MOST_SUGGESTIONS = 4
BESIDE = 32
"""Pixels at scale 1 of frame and padding beside the text."""


class Suggestions(QWidget):
    """Takes no room without any. A button stays where it is while only its text changes, and keeps the focus.

    Attributes:
        chosen: The `LoadOptions` of the button that was pressed.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[Suggestion, ...] = ()
        self._made: list[WrappedButton] = []
        self._heading = QLabel(self.tr("It would fit with:"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._heading)
        self.hide()

    @property
    def buttons(self) -> list[WrappedButton]:
        """Those that are shown."""
        return self._made[: len(self._shown)]

    def show_all(self, found: tuple[Suggestion, ...]) -> None:
        """Offer ``found``, at most `MOST_SUGGESTIONS`."""
        found = found[:MOST_SUGGESTIONS]
        if found == self._shown:
            return
        self._shown = found
        while len(self._made) < len(found):
            self._made.append(self._button(len(self._made)))
        for number, button in enumerate(self._made):
            button.setVisible(number < len(found))
        for button, one in zip(self._made, found, strict=False):
            button.set_full_text(words.suggestion(one))
            button.setToolTip(f"{one.text}. {one.plan.reason}")
        self.setVisible(bool(found))

    def _button(self, number: int) -> WrappedButton:
        button = WrappedButton(self._theme)
        button.setObjectName(f"suggestion{number}")
        button.clicked.connect(lambda: self.chosen.emit(self._shown[number].plan.options))
        self._column.addWidget(button)
        return button


class WrappedButton(TextButton):
    """A button whose text goes on in another line where it is too long."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._full = ""
        super().__init__(theme, "", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def full_text(self) -> str:
        """The text in one line."""
        return self._full

    def set_full_text(self, text: str) -> None:
        """Show ``text``."""
        self._full = text
        self.setAccessibleName(text)
        self._wrap()

    def minimumSizeHint(self) -> QSize:
        """As narrow as its place is; as high as its lines are."""
        return QSize(0, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the text anew."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._wrap()

    def _wrap(self) -> None:
        metrics, room = self.fontMetrics(), self.width() - self._theme.px(BESIDE)
        lines = [""]
        for word in self._full.split(" "):
            longer = f"{lines[-1]} {word}".strip()
            if lines[-1] and metrics.horizontalAdvance(longer) > room:
                lines.append(word)
            else:
                lines[-1] = longer
        text = "\n".join(lines).replace("&", "&&")
        if text != self.text():
            self.setText(text)
