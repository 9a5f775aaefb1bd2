"""Changes with which a model would fit, as buttons."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from engine.library.records import InstalledModel
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
        other_chosen: The model of the button that was pressed: another quant.
    """

    chosen = Signal(object)
    other_chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._shown: tuple[Suggestion, ...] = ()
        self._made: list[WrappedButton] = []
        self._heading = QLabel(self.tr("It would fit with:"))
        self._other: InstalledModel | None = None
        self._other_button = WrappedButton(theme)
        self._other_button.setObjectName("otherQuant")
        self._other_button.clicked.connect(lambda: self.other_chosen.emit(self._other))
        self._other_button.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addWidget(self._heading)
        self._column.addWidget(self._other_button)
        self.hide()

    @property
    def buttons(self) -> list[WrappedButton]:
        """Those that are shown."""
        other = [self._other_button] if self._other is not None else []
        return [*self._made[: len(self._shown)], *other]

    def show_other(self, model: InstalledModel | None) -> bool:
        """Offer another quant that is here; None: there is none that fits. False: it was so before."""
        if model == self._other:
            return False
        self._other = model
        if model is not None:
            self._other_button.set_full_text(words.other_quant(model.quant or model.name, model.size_bytes))
        self._other_button.setVisible(model is not None)
        self._show()
        return True

    def _show(self) -> None:
        self.setVisible(bool(self._shown) or self._other is not None)

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
        self._show()

    def _button(self, number: int) -> WrappedButton:
        button = WrappedButton(self._theme)
        button.setObjectName(f"suggestion{number}")
        button.clicked.connect(lambda: self.chosen.emit(self._shown[number].plan.options))
        self._column.insertWidget(self._column.count() - 1, button)
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
