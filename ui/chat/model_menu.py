"""The list of installed models: choosing one loads it, the sign at its end shows its load options first."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from ui.theme import ICON_SIZE, TARGET_SIZE, Theme
from ui.theming import icons


class ModelMenu(QMenu):
    """A menu whose entries of models (those with a path as data) end in a button of their own.

    Shift+Enter and arrow right press it.

    Attributes:
        options_wanted: Path of the model whose button was pressed.
    """

    options_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._pointer = QPoint(-1, -1)
        self.setToolTipsVisible(True)
        theme.changed.connect(self._make_room)
        self._make_room()

    def zone(self, action: QAction | None) -> QRect:
        """Where the button of ``action`` is; empty for entries without one."""
        if action is None or not isinstance(action.data(), Path) or not action.isEnabled():
            return QRect()
        row = self.actionGeometry(action)
        width = self._theme.px(TARGET_SIZE)
        return QRect(row.right() - width + 1, row.top(), width, row.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The menu, and the buttons over it."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens, size = self._theme.tokens, self._theme.px(ICON_SIZE)
        path = self._theme.icon_path("sliders-horizontal")
        for action in self.actions():
            zone = self.zone(action)
            if zone.isEmpty():
                continue
            over = zone.contains(self._pointer)
            if over:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(tokens.pressed))
                painter.drawRoundedRect(zone.adjusted(2, 2, -2, -2), 4, 4)
            box = QRectF(0, 0, size, size)
            box.moveCenter(QRectF(zone).center())
            lit = over or action is self.activeAction()
            icons.draw(painter, path, box, QColor(tokens.text if lit else tokens.muted))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show the button under the pointer."""
        super().mouseMoveEvent(event)
        self._pointer = event.position().toPoint()
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """No button is under the pointer."""
        super().leaveEvent(event)
        self._pointer = QPoint(-1, -1)
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A press of the button does not choose the entry."""
        action = self.actionAt(event.position().toPoint())
        if self.zone(action).contains(event.position().toPoint()):
            self._want(action)
        else:
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Shift+Enter and arrow right press the button of the entry."""
        action = self.activeAction()
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        wanted = event.key() == Qt.Key.Key_Right or (enter and shifted)
        if wanted and not self.zone(action).isEmpty():
            self._want(action)
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """The button has a tooltip of its own."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            action = self.actionAt(event.pos())
            if self.zone(action).contains(event.pos()):
                QToolTip.showText(event.globalPos(), self.tr("Load with options… (Shift+Enter)"), self)
                return True
        return super().event(event)

    def _want(self, action: QAction) -> None:
        path = action.data()
        self.close()
        self.options_wanted.emit(path)

    def _make_room(self) -> None:
        self.setStyleSheet(f"QMenu::item {{ padding-right: {self._theme.px(TARGET_SIZE) + 12}px; }}")
