"""One bar of the memory page: parts with patterns and words, the kinds of memory below, hover and keyboard."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from ui.memory import page_words as words
from ui.memory.bar_paint import Placed, paint_chosen, paint_parts, paint_spans, place
from ui.memory.blocks import PageBar, State
from ui.memory.owners import Part, PartOwner
from ui.memory.paint import RADIUS
from ui.memory.patterns import Patterns, fresh
from ui.memory.shares import Region
from ui.memory.spoken import Speaker
from ui.memory.words import number
from ui.theme import SPACE_XS, Theme

BAR_HEIGHT = 34
Key = tuple[Region, PartOwner, str, str]
"""What a part is, also after its size changed."""

STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}


class BarView(QWidget):
    """The arrow keys walk along the parts; the part that is pointed at is told exactly.

    Attributes:
        told: The line for the part that is pointed at; empty when none is.
    """

    told = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bar: PageBar | None = None
        self._full = 0
        self._name, self._cards = "", dict[str, str]()
        self._shared = False
        self._current: Key | None = None
        self._patterns: Patterns | None = None
        self._speaker = Speaker(self)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_bar(self, bar: PageBar, full: int, name: str, cards: dict[str, str], *, shared: bool) -> None:
        """Show ``bar`` where the whole width is ``full`` bytes. ``cards`` names the cards whose GTT is in it."""
        named = (name, cards, shared) != (self._name, self._cards, self._shared)
        if bar == self._bar and full == self._full and not named:
            return
        bare = self._bar is None or bool(self._bar.parts) != bool(bar.parts)
        self._bar, self._full = bar, full
        if bare:
            self.updateGeometry()
        self._name, self._cards, self._shared = name, cards, shared
        self.setAccessibleName(name)
        self._speaker.rest(self.summary())
        if self._current is not None:
            self.told.emit(self.line())
        self.update()

    def summary(self) -> str:
        """All parts in one text, for screen readers."""
        bar = self._bar
        if bar is None or not bar.parts:
            return self._state_word()
        parts = (f"{words.owner_name(part)} {number(part.size)}" for part in bar.parts)
        return words.tr("{parts} of {total} GiB").format(parts=", ".join(parts), total=number(bar.total))

    def line(self) -> str:
        """The exact figures of the part that is pointed at."""
        part = next((placed.part for placed in self.placed() if _key(placed.part) == self._current), None)
        return words.part_line(part, self._bar.total, self._cards) if part is not None and self._bar is not None else ""

    def placed(self) -> tuple[Placed, ...]:
        """The parts and where they are."""
        return place(self._bar, self._bar_width()) if self._bar is not None else ()

    def sizeHint(self) -> QSize:
        """The bar and the line of kinds below it."""
        below = SPACE_XS + self.fontMetrics().height() if self._bar is not None and self._bar.parts else 0
        return QSize(400, self._theme.px(BAR_HEIGHT) + SPACE_XS + below)

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(120, self.sizeHint().height())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the pointer."""
        x = event.position().x()
        hit = next((spot for spot in self.placed() if spot.x <= x < spot.x + spot.width), None)
        inside = 0 <= event.position().y() <= self._theme.px(BAR_HEIGHT) + SPACE_XS
        self._point(_key(hit.part) if hit is not None and inside else None)

    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is pointed at any more, except by the keyboard."""
        if not self.hasFocus():
            self._point(None)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """The part stays chosen."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.mouseMoveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left, Right, Home and End go along the parts."""
        placed, key = self.placed(), Qt.Key(event.key())
        if not placed or key not in (*STEPS, Qt.Key.Key_Home, Qt.Key.Key_End):
            super().keyPressEvent(event)
            return
        keys = [_key(spot.part) for spot in placed]
        at = keys.index(self._current) if self._current in keys else -1 if key is Qt.Key.Key_Right else len(keys)
        jump = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: len(keys) - 1}
        at = jump[key] if key in jump else min(len(keys) - 1, max(0, at + STEPS[key]))
        self._point(keys[at])
        self._speaker.say(self.line())

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The choice goes with the keyboard."""
        super().focusOutEvent(event)
        self._point(None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar, the words in it and below it, the ring around what is chosen."""
        if self._bar is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0, 0, self._bar_width(), self._theme.px(BAR_HEIGHT))
        tokens, placed = self._theme.tokens, self.placed()
        paint_parts(painter, box, placed, tokens, self._fresh_patterns(), self._state_word())
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        chosen = next((spot for spot in placed if _key(spot.part) == self._current), None)
        if chosen is not None:
            paint_chosen(painter, box, chosen, tokens)
        paint_spans(painter, box, placed, tokens, shared=self._shared)

    def _point(self, key: Key | None) -> None:
        if key != self._current:
            self._current = key
            self.told.emit(self.line() if key is not None else "")
            self.update()

    def _bar_width(self) -> float:
        share = self._bar.total / self._full if self._bar is not None and self._full else 1.0
        return max(40.0, self.width() * min(1.0, share))

    def _state_word(self) -> str:
        state = self._bar.state if self._bar is not None else State.UNKNOWN
        return words.tr("asleep") if state is State.ASLEEP else words.tr("use unknown")

    def _fresh_patterns(self) -> Patterns:
        self._patterns = fresh(self._patterns, self._theme.tokens, self.devicePixelRatioF())
        return self._patterns


def _key(part: Part) -> Key:
    return (part.region, part.owner, part.name, part.card)
