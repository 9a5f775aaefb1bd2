"""What a search found: title, time, and two lines of the text with the words marked."""

from __future__ import annotations

from PySide6.QtCore import (
    QDate,
    QDateTime,
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.chat.search_rows import SearchRows
from engine.chat.found import Hit
from ui.theme import RADIUS, SPACE_M, SPACE_S, SPACE_XS, Theme

Index = QModelIndex | QPersistentModelIndex
LINES = 2


def short_time(seconds: float, today: QDate) -> str:
    """A day as short as it can be: the hour of today, a day of this year, else the year too."""
    moment = QDateTime.fromSecsSinceEpoch(int(seconds))
    day, locale = moment.date(), QLocale()
    if day == today:
        return locale.toString(moment.time(), QLocale.FormatType.ShortFormat)
    return locale.toString(day, "d MMM" if day.year() == today.year() else "d MMM yyyy")


def formats(hit: Hit, bold: QFont, colour: QColor) -> list[QTextLayout.FormatRange]:
    """The marks of a line, in UTF-16 as Qt counts."""
    found = []
    for start, length in hit.marks:
        part = QTextLayout.FormatRange()
        part.start = len(hit.line[:start].encode("utf-16-le")) // 2
        part.length = len(hit.line[start : start + length].encode("utf-16-le")) // 2
        look = QTextCharFormat()
        look.setFont(bold)
        look.setForeground(colour)
        part.format = look
        found.append(part)
    return found


def elided_from(text: str, start: int, metrics: QFontMetrics, width: int) -> str:
    """``text`` cut so that what follows ``start``, counted in UTF-16 as Qt does, fits ``width`` with an ellipsis."""
    units = text.encode("utf-16-le")
    rest = units[2 * start :].decode("utf-16-le")
    return units[: 2 * start].decode("utf-16-le") + metrics.elidedText(rest, Qt.TextElideMode.ElideRight, width)


class ResultsDelegate(QStyledItemDelegate):
    """Rows of one height: plain text, never markup."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A title and two lines."""
        hit = index.data(SearchRows.Role.HIT)
        lines = LINES + 1 if isinstance(hit, Hit) and hit.message is not None else 1
        return QSize(0, int(self._line_height() * lines + 2 * SPACE_S + SPACE_XS))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Background, title and time, the lines."""
        hit = index.data(SearchRows.Role.HIT)
        if not isinstance(hit, Hit):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        body = rect.adjusted(SPACE_S, 1, -SPACE_S, -1)
        self._paint_body(painter, body, state)
        inner = body.adjusted(SPACE_S + SPACE_XS, SPACE_S, -SPACE_S, -SPACE_XS)
        if hit.message is None:
            self._paint_marked(painter, inner, hit, 1)
        else:
            self._paint_head(painter, inner, hit)
            self._paint_marked(painter, inner.adjusted(0, int(self._line_height()), 0, 0), hit, LINES)
        painter.restore()

    def _line_height(self) -> float:
        return self._theme.px(19)

    def _paint_body(self, painter: QPainter, body: QRect, state: QStyle.StateFlag) -> None:
        tokens = self._theme.tokens
        selected, over = bool(state & QStyle.StateFlag.State_Selected), bool(state & QStyle.StateFlag.State_MouseOver)
        if selected or over:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if selected else tokens.hover))
            painter.drawRoundedRect(body, RADIUS, RADIUS)
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(1, 1, -1, -1), RADIUS, RADIUS)

    def _paint_head(self, painter: QPainter, room: QRect, hit: Hit) -> None:
        line = QRect(room.left(), room.top(), room.width(), int(self._line_height()))
        painter.setFont(self._theme.font(0.86))
        painter.setPen(QColor(self._theme.tokens.text))
        moment = short_time(hit.time, QDate.currentDate())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, moment)
        taken = painter.fontMetrics().horizontalAdvance(moment) + SPACE_M
        painter.setFont(self._theme.font(0.95, bold=True))
        painter.setPen(QColor(self._theme.tokens.text))
        width = line.width() - taken
        title = painter.fontMetrics().elidedText(" ".join(hit.title.split()), Qt.TextElideMode.ElideRight, width)
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
        painter.drawText(line.adjusted(0, 0, -taken, 0), flags, title)

    def _paint_marked(self, painter: QPainter, room: QRect, hit: Hit, lines: int) -> None:
        """The line of the hit, wrapped to ``lines``; the last one ends in an ellipsis when there is more."""
        base = self._theme.font(0.95 if hit.message is not None else 1.0)
        bold = QFont(base)
        bold.setBold(True)
        marks = formats(hit, bold, QColor(self._theme.tokens.text))
        layout = self._laid_out(hit.line, base, marks, room.width(), lines)
        last = layout.lineAt(layout.lineCount() - 1)
        if len(hit.line.encode("utf-16-le")) // 2 > last.textStart() + last.textLength():
            cut = elided_from(hit.line, last.textStart(), QFontMetrics(bold), room.width())
            layout = self._laid_out(cut, base, marks, room.width(), lines)
        muted = self._theme.tokens.muted if hit.message is not None else self._theme.tokens.text
        painter.setPen(QColor(muted))
        painter.setClipRect(room)
        layout.draw(painter, QPointF(room.topLeft()), [], QRectF(room))

    def _laid_out(
        self, text: str, font: QFont, marks: list[QTextLayout.FormatRange], width: int, lines: int
    ) -> QTextLayout:
        layout = QTextLayout(text, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats(marks)
        layout.beginLayout()
        for number in range(lines):
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(float(width))
            line.setPosition(QPointF(0, number * self._line_height()))
        layout.endLayout()
        return layout


class ResultsView(QListView):
    """The hits of a search.

    Attributes:
        chosen: The `Hit` that the user went to.
        left: The keyboard goes back to where the query is typed.
    """

    chosen = Signal(object)
    left = Signal()

    def __init__(self, rows: SearchRows, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setModel(rows)
        self.setObjectName("searchResults")
        self.setAccessibleName(self.tr("Search results"))
        self.setProperty("role", "bare")
        self.setItemDelegate(ResultsDelegate(theme, self))
        self.setMouseTracking(True)
        self.setUniformItemSizes(False)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.clicked.connect(self._choose)
        theme.changed.connect(self.scheduleDelayedItemsLayout)

    def take_focus(self) -> None:
        """Come from the query by keyboard: to the first row."""
        self.setFocus(Qt.FocusReason.TabFocusReason)
        if not self.currentIndex().isValid() and self.model().rowCount() > 0:
            self.setCurrentIndex(self.model().index(0, 0))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter goes to a hit, Up at the top and Escape go back to the query."""
        index = self.currentIndex()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and index.isValid():
            self._choose(index)
        elif event.key() == Qt.Key.Key_Escape or (event.key() == Qt.Key.Key_Up and index.row() <= 0):
            self.left.emit()
        else:
            super().keyPressEvent(event)

    def _choose(self, index: Index) -> None:
        hit = index.data(SearchRows.Role.HIT)
        if isinstance(hit, Hit):
            self.chosen.emit(hit)
