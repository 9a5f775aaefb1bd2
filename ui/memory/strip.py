"""The line at the bottom of the window: where the memory is, always."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.memory.service import MemoryService
from app.worker.service import WorkerService
from engine.memory.records import MemorySnapshot
from engine.protocol.types import ModelInfo
from ui.memory.content import View, view
from ui.memory.layout import Placed, arrange
from ui.memory.paint import paint_bar, paint_pattern
from ui.theme import SPACE_M, TARGET_SIZE, Theme
from ui.widgets.elided_label import plain_tooltip

SPOKEN_MS = 5000
"""The text for screen readers changes at most so often."""

TEXT_FACTOR = 0.92
BAR_HEIGHT = 20
KEY_SIZE = 11


class MemoryStrip(QAbstractButton):
    """Live memory in one line. It is a button: a click, Enter or Space asks for the memory page."""

    def __init__(
        self, memory: MemoryService, worker: WorkerService, theme: Theme, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._snapshot: MemorySnapshot | None = memory.snapshot
        self._model: ModelInfo | None = worker.model
        self._speed: float | None = None
        self._failed = False
        self._view = View()
        self._spoken = QTimer(self)
        self._spoken.setSingleShot(True)
        self._spoken.setInterval(SPOKEN_MS)
        self._spoken.timeout.connect(self._speak)
        self.setObjectName("memoryStrip")
        self.setAccessibleName(self.tr("Memory"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        memory.sampled.connect(self._take_snapshot)
        memory.failed.connect(self._lose_figures)
        worker.model_changed.connect(self._take_model)
        worker.speed_changed.connect(self._take_speed)
        theme.changed.connect(self._restyle)
        self._restyle()

    def sizeHint(self) -> QSize:
        """One line; the width is what the window gives."""
        return QSize(640, self._theme.px(TARGET_SIZE))

    def minimumSizeHint(self) -> QSize:
        """Never asks the window to be wider."""
        return QSize(self._theme.px(240), self._theme.px(TARGET_SIZE))

    def placed(self) -> tuple[Placed, ...]:
        """What is shown at the present width, and where (pixels from the left padding)."""
        metrics = QFontMetricsF(self.font())
        return arrange(
            self._view.items,
            self.width() - 2 * self._padding(),
            metrics.horizontalAdvance,
            gap=float(self._theme.px(SPACE_M)),
            key_width=self._key_size() + self._theme.px(6),
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Background, items, focus ring."""
        tokens = self._theme.tokens
        painter = QPainter(self)
        painter.setFont(self.font())
        pressed, hovered = self.isDown(), self.underMouse()
        painter.fillRect(
            self.rect(), QColor(tokens.pressed if pressed else tokens.hover if hovered else tokens.background)
        )
        for item in self.placed():
            self._paint_item(painter, item)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter does what Space does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show that it can be clicked."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Back to rest."""
        super().leaveEvent(event)
        self.update()

    def _take_snapshot(self, snapshot: MemorySnapshot) -> None:
        self._snapshot, self._failed = snapshot, False
        self._refresh()

    def _lose_figures(self) -> None:
        self._snapshot, self._failed = None, True
        self._refresh()

    def _take_model(self, model: ModelInfo | None) -> None:
        self._model = model
        self._refresh()

    def _take_speed(self, speed: float | None) -> None:
        self._speed = speed
        self._refresh()

    def _refresh(self) -> None:
        if self._snapshot is None and not self._failed:
            return
        self._view = view(self._snapshot, self._model, self._speed, max(1.0, self._theme.scale))
        lines = (*self._view.lines, self.tr("Click for the memory page (Ctrl+Shift+M)."))
        self.setToolTip(plain_tooltip("\n".join(lines)))
        if not self._spoken.isActive():
            self._speak()
        self.update()

    def _speak(self) -> None:
        text = " ".join(self._view.lines)
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)
            self._spoken.start()

    def _restyle(self) -> None:
        self.setFont(self._theme.font(TEXT_FACTOR))
        self.setFixedHeight(self._theme.px(TARGET_SIZE))
        self._refresh()

    def _padding(self) -> int:
        return self._theme.px(SPACE_M)

    def _key_size(self) -> int:
        return self._theme.px(KEY_SIZE)

    def _paint_item(self, painter: QPainter, item: Placed) -> None:
        tokens = self._theme.tokens
        x, middle = self._padding() + item.x, self.height() / 2
        if item.bar is not None:
            height = self._theme.px(BAR_HEIGHT)
            paint_bar(painter, QRectF(x, middle - height / 2, item.width, height), item.bar, tokens)
            return
        if item.key is not None:
            side = self._key_size()
            box = QRectF(x, middle - side / 2, side, side)
            paint_pattern(painter, box, *item.key, tokens)
            painter.setPen(QPen(QColor(tokens.outline), 1))
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5))
            x += side + self._theme.px(6)
        painter.setPen(QColor(tokens.muted if item.muted else tokens.text))
        baseline = QFontMetricsF(self.font())
        painter.drawText(QPointF(x, middle + (baseline.ascent() - baseline.descent()) / 2), item.text)
