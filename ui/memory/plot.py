"""The last ten minutes of one kind of memory: stacked areas, sensors as thin lines, events; hover and keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.memory.history import History, Marker, MarkerKind, Point
from ui.memory import plot_paint, time_words
from ui.memory.curves import LINES, Curves
from ui.memory.page_words import tr
from ui.memory.patterns import Patterns, fresh
from ui.memory.plot_paint import Frame
from ui.memory.series import Layer, Subject, nearest
from ui.memory.spoken import Speaker
from ui.memory.words import gib
from ui.theme import SPACE_S, SPACE_XS, Theme
from ui.widgets.elided_label import plain_tooltip

LANE = 18
LEAST_HEIGHT = 170
CALM_S = 1.5
"""Two pixels are not worth a repaint each second: every other sample is painted, unless somebody points."""

NEAR_PX = 6.0
LEAP = 30
STEPS = {
    Qt.Key.Key_Left: -1,
    Qt.Key.Key_Right: 1,
    Qt.Key.Key_PageUp: -LEAP,
    Qt.Key.Key_PageDown: LEAP,
}
EVENTS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class HistoryPlot(QWidget):
    """Left and Right go from sample to sample, Page up and down by half a minute, Up and Down from event to event.

    Attributes:
        told: The line for the moment that is pointed at; empty when none is.
    """

    told = Signal(str)

    def __init__(self, history: History, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._history, self._theme = history, theme
        self._curves: Curves | None = None
        self._points: tuple[Point, ...] = ()
        self._markers: tuple[Marker, ...] = ()
        self._lines: tuple[str, ...] = ()
        self._cap: float | None = None
        self._chosen: float | None = None
        self._painted = float("-inf")
        self._patterns: Patterns | None = None
        self._speaker = Speaker(self)
        self.setObjectName("memoryHistory")
        self.setAccessibleName(tr("Memory of the last ten minutes"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_subject(self, subject: Subject, card: str | None, cap: float | None) -> None:
        """Plot ``subject`` with the sensors of the card at the address ``card``; ``cap`` is its power limit, watts."""
        if self._curves is None or self._curves.subject != subject or self._curves.card != card or self._cap != cap:
            self._curves, self._cap = Curves(subject, card), cap
            self.follow()
            self.update()

    def set_lines(self, names: tuple[str, ...]) -> None:
        """Which sensors are drawn, of `LINES`."""
        if names != self._lines:
            self._lines = names
            self.update()

    def follow(self) -> None:
        """Take the newest samples."""
        if self._curves is None:
            return
        points, markers = self._history.points, self._history.markers
        happened = markers != self._markers
        if not self._curves.follow(points) and not happened:
            return
        self._points, self._markers = points, markers
        self._speaker.rest(self._summary())
        if self._chosen is not None:
            self.told.emit(self.line())
        if happened or self._chosen is not None or not 0 <= self._now() - self._painted < CALM_S:
            self._painted = self._now()
            self.update()

    def line(self) -> str:
        """The moment that is pointed at, in words."""
        if self._chosen is None or self._curves is None or not self._points:
            return ""
        point = nearest(self._points, self._chosen, time_words.NEAR_S)
        return time_words.line(self._curves.subject, point, self._chosen, self._now(), self._markers)

    def seen(self) -> tuple[Layer, ...]:
        """The layers that there is something of, from the bottom upwards."""
        curves = self._curves
        return tuple(layer for layer in curves.subject.layers if layer in curves.seen) if curves is not None else ()

    def events(self) -> tuple[MarkerKind, ...]:
        """The kinds of events in the plot."""
        kinds = {marker.kind for marker in self._markers}
        return tuple(kind for kind in MarkerKind if kind in kinds)

    def frame(self) -> Frame:
        """Where the plot lies in the widget now."""
        metrics = QFontMetricsF(self.font())
        total = self._curves.subject.total if self._curves is not None else 0
        left = metrics.horizontalAdvance(gib(total)) + SPACE_S + 2
        scales = len(self._lines) * (metrics.horizontalAdvance("000 °C") + SPACE_S)
        lane = QRectF(left, 0, max(50.0, self.width() - left - scales - SPACE_S), self._theme.px(LANE))
        top = lane.bottom() + metrics.height() / 2
        bottom = self.height() - metrics.height() - SPACE_XS
        area = QRectF(left, top, lane.width(), max(20.0, bottom - top))
        return Frame(area, lane, self._now())

    def sizeHint(self) -> QSize:
        """Takes what there is."""
        return QSize(600, self._theme.px(LEAST_HEIGHT) + 60)

    def minimumSizeHint(self) -> QSize:
        """Lower is not readable."""
        return QSize(300, self._theme.px(LEAST_HEIGHT))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the moment under the pointer, and an event there as a tooltip."""
        frame, spot = self.frame(), event.position()
        inside = frame.area.left() - 1 <= spot.x() <= frame.area.right() + 1 and bool(self._points)
        self._choose(frame.at(spot.x()) if inside else None)
        marker = self._marker_at(frame, spot.x()) if inside else None
        text = time_words.event(marker, self._now()) if marker is not None else ""
        place = self.mapToGlobal(spot.toPoint() + QPoint(0, 12))
        if text != self.toolTip():
            self.setToolTip(text)
            QToolTip.showText(place, plain_tooltip(text), self) if text else QToolTip.hideText()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The keyboard goes on from here."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.mouseMoveEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is pointed at any more, except by the keyboard."""
        if not self.hasFocus():
            self._choose(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        key = Qt.Key(event.key())
        at = self._step(key) if self._points else None
        if at is None:
            super().keyPressEvent(event)
            return
        self._choose(at)
        self._speaker.say(self.line())

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The choice goes with the keyboard."""
        super().focusOutEvent(event)
        self._choose(None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Everything, from back to front."""
        if self._curves is None:
            return
        painter, frame, tokens = QPainter(self), self.frame(), self._theme.tokens
        holes = plot_paint.gaps(frame, self._curves.stack)
        painter.fillRect(frame.area, QColor(tokens.surface))
        for hole in holes:
            painter.fillRect(hole, QColor(tokens.raised))
        plot_paint.paint_axes(painter, frame, self._curves.subject, tokens)
        plot_paint.paint_gaps(painter, holes, tokens)
        painter.setClipRect(frame.area.adjusted(0, -1, 0, 0))
        curves = self._curves
        self._patterns = fresh(self._patterns, tokens, self.devicePixelRatioF())
        plot_paint.paint_areas(painter, frame, curves.subject, curves.stack, curves.seen, self._patterns)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tops = {name: plot_paint.scale_top(name, self._curves.highest[name], self._cap) for name in LINES}
        for name in self._lines:
            plot_paint.paint_line(painter, frame, name, self._curves.lines[name], tops[name], tokens)
        painter.setClipping(False)
        plot_paint.paint_events(painter, frame, self._markers, tokens)
        x = frame.area.right() + SPACE_S
        for name in self._lines:
            x = plot_paint.paint_scale(painter, frame, name, tops[name], x, tokens)
        if self._chosen is not None:
            plot_paint.paint_cursor(painter, frame, self._chosen, tokens)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.drawRect(frame.area.adjusted(1, 1, -1, -1))

    def _now(self) -> float:
        return self._points[-1].at if self._points else 0.0

    def _choose(self, at: float | None) -> None:
        if at != self._chosen:
            self._chosen = at
            self.told.emit(self.line())
            self.update()

    def _step(self, key: Qt.Key) -> float | None:
        times = [point.at for point in self._points]
        if key is Qt.Key.Key_Home:
            return times[0]
        if key is Qt.Key.Key_End:
            return times[-1]
        if key in STEPS:
            if self._chosen is None:
                return times[-1]
            chosen = self._chosen
            at = min(range(len(times)), key=lambda number: abs(times[number] - chosen))
            return times[min(len(times) - 1, max(0, at + STEPS[key]))]
        return self._next_event(EVENTS[key]) if key in EVENTS else None

    def _next_event(self, step: int) -> float | None:
        """The next event later (1) or earlier (-1) than the chosen moment; where one is when there is none."""
        here = self._chosen if self._chosen is not None else self._now() + 1
        moments = sorted(marker.at for marker in self._markers)
        found = [at for at in moments if (at > here if step > 0 else at < here)]
        return (found[0] if step > 0 else found[-1]) if found else self._chosen

    def _marker_at(self, frame: Frame, x: float) -> Marker | None:
        """A load or unload near the pixel, else the answer that ran then."""
        for marker in self._markers:
            if marker.kind is not MarkerKind.ANSWER and abs(frame.x(marker.at) - x) <= NEAR_PX:
                return marker
        return next(
            (marker for marker in self._markers if marker.kind is MarkerKind.ANSWER
             and frame.x(marker.at) - 2 <= x <= frame.x(marker.until or frame.now) + 2), None
        )  # fmt: skip

    def _summary(self) -> str:
        if self._curves is None or not self._points:
            return ""
        now = self._now()
        text = time_words.line(self._curves.subject, self._points[-1], now, now, ())
        return f"{self._curves.subject.title}. {text}"
