"""Paints the rows of the list in Discover."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.fit.badges import UNKNOWN, Badge
from engine.hub.records import CatalogueModel, Gate, RepoSummary
from engine.memory.fit.records import Verdict
from ui.library import fit_words
from ui.library.discover import words
from ui.library.discover.folding import fold
from ui.library.discover.found import ROW_ROLE, Heading, Row
from ui.theme import RADIUS, SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.theming import icons

Index = QModelIndex | QPersistentModelIndex
ROW_HEIGHT, HEADING_HEIGHT, TEXT_HEIGHT = 58, 38, 22
SIGN = 16
SMALL = 0.9


class FoundDelegate(QStyledItemDelegate):
    """Two lines for each entry: name and how well it is liked or fits; who made it, how large, which licence.

    What is too long for the second line goes on in a third.
    """

    def __init__(
        self,
        theme: Theme,
        badge: Callable[[CatalogueModel], Badge] = lambda _model: UNKNOWN,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._badge = theme, badge
        self.here: Callable[[str], bool] = lambda _repo: False
        """Whether something of a repository is installed."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Room for the lines that the texts take at this width."""
        row: Row = index.data(ROW_ROLE)
        if isinstance(row, Heading):
            title, text = self._heading(row)
            lines = max(0, len(title) - 1) + len(text)
            return QSize(0, self._theme.px(HEADING_HEIGHT) + lines * self._theme.px(TEXT_HEIGHT))
        lines = max(0, len(self._facts(row)) - 1)
        return QSize(0, self._theme.px(ROW_HEIGHT) + lines * self._theme.px(TEXT_HEIGHT))

    def _width(self) -> int:
        """Of the texts."""
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QAbstractItemView) else 0
        return width - 2 * (SPACE_M + SPACE_XS)

    def _facts(self, row: CatalogueModel | RepoSummary) -> list[str]:
        text = words.facts_of_catalogue(row) if isinstance(row, CatalogueModel) else words.facts_of_repo(row)
        return fold(text, self._width(), QFontMetrics(self._theme.font(SMALL)))

    def _heading(self, row: Heading) -> tuple[list[str], list[str]]:
        width, bold, small = self._width(), self._theme.font(bold=True), self._theme.font(SMALL)
        return fold(row.title, width, QFontMetrics(bold), " "), fold(row.text, width, QFontMetrics(small), " ")

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Ground, focus ring, two lines."""
        row: Row = index.data(ROW_ROLE)
        rect: QRect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, Heading):
            self._paint_heading(painter, rect, row)
        else:
            body = rect.adjusted(SPACE_XS, 1, -SPACE_XS, -1)
            self._paint_ground(painter, body, option.state)
            room = body.adjusted(SPACE_M, SPACE_S, -SPACE_M, -SPACE_S)
            if isinstance(row, CatalogueModel):
                self._paint_catalogue(painter, room, row)
            else:
                self._paint_repo(painter, room, row)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, row: Heading) -> None:
        room = rect.adjusted(SPACE_M + SPACE_XS, SPACE_S, -SPACE_M, 0)
        title, text = self._heading(row)
        line = QRect(room.left(), room.top(), room.width(), self._theme.px(HEADING_HEIGHT) - SPACE_S)
        for words_of_title in title:
            self._text(painter, line, words_of_title, self._theme.font(bold=True), "text")
            line.translate(0, self._theme.px(TEXT_HEIGHT))
        below = QRect(room.left(), rect.bottom() + 1 - SPACE_XS, room.width(), self._theme.px(TEXT_HEIGHT))
        below.translate(0, -len(text) * below.height())
        self._column(painter, below, text)

    def _column(self, painter: QPainter, line: QRect, texts: list[str]) -> None:
        for text in texts:
            self._text(painter, line, text, self._theme.font(SMALL), "muted")
            line = line.translated(0, self._theme.px(TEXT_HEIGHT))

    def _paint_ground(self, painter: QPainter, body: QRect, state: QStyle.StateFlag) -> None:
        tokens = self._theme.tokens
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected or state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection if selected else tokens.hover))
            painter.drawRoundedRect(body, RADIUS, RADIUS)
        if state & QStyle.StateFlag.State_HasFocus and selected:
            painter.setPen(QPen(QColor(tokens.focus), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(body.adjusted(1, 1, -1, -1), RADIUS, RADIUS)

    def _lines(self, room: QRect) -> tuple[QRect, QRect]:
        half = (self._theme.px(ROW_HEIGHT) - 2 - 2 * SPACE_S) // 2
        upper = QRect(room.left(), room.top(), room.width(), half)
        return upper, upper.translated(0, half)

    def _paint_repo(self, painter: QPainter, room: QRect, row: RepoSummary) -> None:
        upper, lower = self._lines(room)
        signs = [("check-circle", "", "good")] if self.here(row.repo) else []
        if row.gate is not Gate.OPEN:
            signs.append(("lock-simple", "", "warn"))
        if row.likes:
            signs.append(("heart", words.count(row.likes), "muted"))
        if row.downloads is not None:
            signs.append(("download-simple", words.count(row.downloads), "muted"))
        self._paint_name(painter, upper, row.name, signs)
        self._column(painter, lower, self._facts(row))

    def _paint_catalogue(self, painter: QPainter, room: QRect, row: CatalogueModel) -> None:
        upper, lower = self._lines(room)
        signs = [("check-circle", "", "good")] if self.here(row.repo) else []
        if row.deck:
            signs.append(("game-controller", words.tr("Deck"), "muted"))
        badge = self._badge(row)
        if badge.plan is not None and badge.plan.verdict is not Verdict.UNKNOWN:
            look = fit_words.look_of(badge)
            signs.append((look.icon, look.text, look.tint))
        self._paint_name(painter, upper, row.name, signs)
        self._column(painter, lower, self._facts(row))

    def _paint_name(self, painter: QPainter, line: QRect, name: str, signs: list[tuple[str, str, str]]) -> None:
        """The name, and at the right small icons with a word each, as far as they leave room for the name."""
        room = QRect(line)
        bold, small = self._theme.font(bold=True), self._theme.font(SMALL)
        signs = self._fitting(room.width() - QFontMetrics(bold).horizontalAdvance(name), QFontMetrics(small), signs)
        for icon, word, tint in reversed(signs):
            size = self._theme.px(SIGN)
            if word:
                width = QFontMetrics(small).horizontalAdvance(word)
                box = QRect(room.right() - width + 1, room.top(), width, room.height())
                self._text(painter, box, word, small, tint)
                room.setRight(room.right() - width - SPACE_XS)
            box = QRect(room.right() - size + 1, room.center().y() - size // 2, size, size)
            icons.draw(painter, self._theme.icon_path(icon), box.toRectF(), QColor(getattr(self._theme.tokens, tint)))
            room.setRight(box.left() - SPACE_S)
        self._text(painter, room, name, bold, "text")

    def _fitting(
        self, room: int, metrics: QFontMetrics, signs: list[tuple[str, str, str]]
    ) -> list[tuple[str, str, str]]:
        """Without those that only tell how well it is liked, when the name would be cut."""
        kept = list(signs)

        def taken() -> int:
            words = sum(metrics.horizontalAdvance(word) + SPACE_XS for _, word, _ in kept if word)
            return words + len(kept) * (self._theme.px(SIGN) + SPACE_S)

        while taken() > room and any(tint == "muted" for _, _, tint in kept):
            kept.remove(next(sign for sign in kept if sign[2] == "muted"))
        return kept

    def _text(self, painter: QPainter, room: QRect, text: str, font: QFont, tint: str) -> None:
        painter.setFont(font)
        painter.setPen(QColor(getattr(self._theme.tokens, tint)))
        line = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width() + 1)
        painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), line)
