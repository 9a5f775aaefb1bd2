"""Controls of the settings: a switch, and fields that a turn of the wheel over the page does not change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QSizePolicy, QSpinBox, QWidget

from ui.theme import TARGET_SIZE, Theme

TRACK_WIDTH, TRACK_HEIGHT = 40, 22
RING = 3
FIELD_WIDTH = 196
"""Of choices and numbers at scale 1, so that they stand in one line."""

TEXT_MARGIN = 9


class Switch(QCheckBox):
    """On or off, drawn as a knob in a track. It shows no text, so it needs a name.

    Attributes:
        chosen: The user turned it.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.updateGeometry)
        self.clicked.connect(self._tell)

    def show_value(self, value: bool) -> None:
        """Show ``value`` without telling."""
        self.setChecked(value)

    def sizeHint(self) -> QSize:
        """Track and ring, as high as a target has to be."""
        return QSize(self._theme.px(TRACK_WIDTH) + 2 * (RING + 1), self._theme.px(TARGET_SIZE))

    def minimumSizeHint(self) -> QSize:
        """Never smaller."""
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        """All of it can be pressed."""
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Track, knob, and a ring for the focus."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, height = self._theme.px(TRACK_WIDTH), self._theme.px(TRACK_HEIGHT)
        track = QRectF((self.width() - width) / 2, (self.height() - height) / 2, width, height)
        if self.hasFocus():
            ring = track.adjusted(-RING, -RING, RING, RING)
            painter.setPen(QPen(QColor(self._theme.tokens.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(ring, ring.height() / 2, ring.height() / 2)
        fill, edge, knob = self._colours()
        painter.setPen(QPen(QColor(edge), 1))
        painter.setBrush(QColor(fill))
        painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), height / 2, height / 2)
        self._paint_knob(painter, track, QColor(knob))

    def _tell(self, checked: bool) -> None:
        self.chosen.emit(checked)

    def _paint_knob(self, painter: QPainter, track: QRectF, colour: QColor) -> None:
        gap = track.height() * 0.18
        side = track.height() - 2 * gap
        on_right = self.isChecked() is not self.isRightToLeft()
        left = track.right() - gap - side if on_right else track.left() + gap
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawEllipse(QRectF(left, track.top() + gap, side, side))

    def _colours(self) -> tuple[str, str, str]:
        """Of track, its edge, and knob."""
        tokens = self._theme.tokens
        if not self.isEnabled():
            return tokens.raised, tokens.hairline, tokens.disabled
        if self.isChecked():
            return tokens.accent, tokens.accent, tokens.on_accent
        return tokens.raised, tokens.outline, tokens.muted


class Choice(QComboBox):
    """One of several values.

    Attributes:
        chosen: The user took another value.
    """

    chosen = Signal(object)

    def __init__(
        self,
        theme: Theme,
        name: str,
        choices: Sequence[tuple[Any, str]],
        *,
        width: int = FIELD_WIDTH,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._wanted = theme, width
        self._values: list[Any] = []
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_choices(choices)
        self.activated.connect(lambda index: self.chosen.emit(self._values[index]))

    def sizeHint(self) -> QSize:
        """As wide as all fields are."""
        return QSize(self._theme.px(self._wanted), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Never narrower."""
        return self.sizeHint()

    def set_choices(self, choices: Sequence[tuple[Any, str]]) -> None:
        """Offer these values."""
        self.clear()
        self._values = [value for value, _ in choices]
        self.addItems([text for _, text in choices])

    def show_value(self, value: Any, text: str = "") -> None:
        """Show ``value``; one that is not offered is added under ``text``."""
        if value not in self._values:
            self._values.append(value)
            self.addItem(text or str(value))
        self.setCurrentIndex(self._values.index(value))

    @property
    def value(self) -> Any:
        """What is shown."""
        return self._values[self.currentIndex()]

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel turns the page, not the value."""
        event.ignore()


class Number(QSpinBox):
    """A whole number. ``lowest`` can have a word of its own, such as "Never".

    Attributes:
        chosen: The user took another value: a step at once, typed text when it is finished.
    """

    chosen = Signal(object)

    def __init__(
        self,
        theme: Theme,
        name: str,
        lowest: int,
        highest: int,
        *,
        step: int = 1,
        word: str = "",
        suffix: str = "",
        width: int = FIELD_WIDTH,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._wanted = theme, width
        self.lineEdit().setTextMargins(TEXT_MARGIN, 0, 0, 0)
        self.setAccessibleName(name)
        self.setRange(lowest, highest)
        self.setSingleStep(step)
        self.setSpecialValueText(word)
        self.setSuffix(suffix)
        self.setGroupSeparatorShown(True)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._quiet = False
        self.valueChanged.connect(self._tell)

    def sizeHint(self) -> QSize:
        """As wide as all fields are."""
        return QSize(self._theme.px(self._wanted), super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Never narrower."""
        return self.sizeHint()

    def show_value(self, value: int) -> None:
        """Show ``value`` without telling."""
        self._quiet = True
        self.setValue(value)
        self._quiet = False

    def stepBy(self, steps: int) -> None:
        """Steps lead to whole multiples: from 5000 by 1024 up to 5120."""
        step = self.singleStep()
        if step > 1 and self.value() % step and steps:
            value = self.value() // step * step
            self.setValue(value + step if steps > 0 else value)
        else:
            super().stepBy(steps)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel turns the page, not the value."""
        event.ignore()

    def _tell(self, value: int) -> None:
        if not self._quiet:
            self.chosen.emit(value)
