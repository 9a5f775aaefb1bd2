"""The names and sizes of a bar's parts in lines below it: nothing overlaps, nothing is cut."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.memory.history import MarkerKind
from ui.memory import page_words as words
from ui.memory.event_marks import paint_event_mark
from ui.memory.owners import Part, PartOwner
from ui.memory.patterns import Patterns, fresh
from ui.memory.shares import Region
from ui.memory.words import gib
from ui.theme import SPACE_L, SPACE_S, SPACE_XS, Theme

MARK = 12
RESERVE = "000.0 GiB"
"""Room for any size, so that nothing moves when figures do."""


@dataclass(frozen=True)
class Entry:
    """A mark, a name and a size (None: only the name). Without an owner it is a heading, or the mark of an event."""

    region: Region
    owner: PartOwner | None
    name: str
    size: str | None = None
    event: MarkerKind | None = None

    @property
    def heading(self) -> bool:
        """Begins a line of its own."""
        return self.owner is None and self.event is None


def entries(parts: tuple[Part, ...], cards: dict[str, str]) -> tuple[Entry, ...]:
    """One for each part; where a bar holds several kinds of memory, each kind begins a line."""
    groups = {(part.region, part.card): None for part in parts}
    found = []
    for region, card in groups:
        members = [part for part in parts if (part.region, part.card) == (region, card)]
        if len(groups) > 1:
            size = gib(sum(part.size for part in members)) if region is not Region.RAM else None
            found.append(Entry(region, None, words.memory_name(region, card, cards), size))
        found += [Entry(region, part.owner, words.owner_name(part), gib(part.size)) for part in members]
    return tuple(found)


class LegendView(QWidget):
    """Entries side by side in as many lines as they need."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entries: tuple[Entry, ...] = ()
        self._patterns: Patterns | None = None
        self._placed: dict[float, tuple[tuple[Entry, QRectF], ...]] = {}
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_entries(self, entries: tuple[Entry, ...]) -> None:
        """Explain these."""
        if entries == self._entries:
            return
        before, self._entries = self._entries, entries
        self._placed.clear()
        self.setAccessibleName(", ".join(f"{entry.name} {entry.size or ''}".strip() for entry in entries))
        if [entry.name for entry in before] != [entry.name for entry in entries]:
            self.updateGeometry()
        self.update()

    def placed(self, width: float) -> tuple[tuple[Entry, QRectF], ...]:
        """Each entry and its box for a widget of this width."""
        if width not in self._placed:
            self._placed[width] = self._place(width)
        return self._placed[width]

    def _place(self, width: float) -> tuple[tuple[Entry, QRectF], ...]:
        metrics, line = QFontMetricsF(self.font()), self._line()
        heads = [self._entry_width(entry, metrics) for entry in self._entries if entry.heading]
        left = max(heads) + SPACE_L if heads else 0.0
        found: list[tuple[Entry, QRectF]] = []
        x, y = 0.0, 0.0
        for entry in self._entries:
            own = left - SPACE_L if entry.heading else self._entry_width(entry, metrics)
            if found and (entry.heading or (x > left and x + own > width)):
                x, y = 0.0 if entry.heading else left, y + line
            found.append((entry, QRectF(x, y, own, line)))
            x += own + SPACE_L
        return tuple(found)

    def _entry_width(self, entry: Entry, metrics: QFontMetricsF) -> float:
        own = (0 if entry.heading else self._indent()) + metrics.horizontalAdvance(entry.name)
        if entry.size is None:
            return own
        reserve = max(metrics.horizontalAdvance(text) for text in (entry.size, RESERVE))
        return own + metrics.horizontalAdvance(" ") * 2 + reserve

    def hasHeightForWidth(self) -> bool:
        """Lines wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """All lines."""
        boxes = self.placed(width)
        return round(boxes[-1][1].bottom()) if boxes else 0

    def sizeHint(self) -> QSize:
        """As at the present width."""
        width = max(self.width(), 400)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Never cut in height."""
        return QSize(160, self.heightForWidth(max(self.width(), 160)))

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs other places."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._placed.clear()
            self.updateGeometry()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may need another height."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Marks with the patterns of the bar, names, sizes."""
        painter = QPainter(self)
        metrics, tokens = QFontMetricsF(self.font()), self._theme.tokens
        for entry, box in self.placed(self.width()):
            baseline = round(box.y() + (box.height() + metrics.ascent() - metrics.descent()) / 2)
            x = box.x()
            if not entry.heading:
                self._paint_mark(painter, entry, box)
                x += self._indent()
            painter.setPen(QColor(tokens.text if entry.heading else tokens.muted))
            painter.drawText(int(x), baseline, entry.name)
            if entry.size is not None:
                painter.setPen(QColor(tokens.text))
                x += metrics.horizontalAdvance(entry.name) + 2 * metrics.horizontalAdvance(" ")
                painter.drawText(int(x), baseline, entry.size)

    def _paint_mark(self, painter: QPainter, entry: Entry, box: QRectF) -> None:
        tokens, side = self._theme.tokens, self._theme.px(MARK)
        self._patterns = fresh(self._patterns, tokens, self.devicePixelRatioF())
        mark = QRectF(box.x(), round(box.y() + (box.height() - side) / 2), side, side)
        if entry.event is not None:
            paint_event_mark(painter, mark, entry.event, tokens)
        elif entry.owner is not None:
            painter.setBrushOrigin(mark.topLeft())
            painter.fillRect(mark, self._patterns.brush(entry.region, entry.owner))
            painter.setPen(QPen(QColor(tokens.outline), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(mark.adjusted(0.5, 0.5, -0.5, -0.5))

    def _indent(self) -> float:
        return self._theme.px(MARK) + SPACE_S

    def _line(self) -> float:
        return float(self.fontMetrics().height() + SPACE_XS)
