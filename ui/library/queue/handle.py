"""What a download is dragged by to another place of the queue."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ui.theme import ICON_SIZE, TARGET_SIZE, Theme
from ui.theming import icons

WIDTH = 26


class Handle(QWidget):
    """Six dots.

    Attributes:
        dragged: Where the pointer is, in pixels on the screen from its top.
        dropped: It was let go there.
    """

    dragged = Signal(int)
    dropped = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("downloadHandle")
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setToolTip(self.tr("Drag to change the order (Ctrl+Shift+Up and Down)"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """As high as a target has to be."""
        return QSize(self._theme.px(WIDTH), self._theme.px(TARGET_SIZE))

    def minimumSizeHint(self) -> QSize:
        """Never smaller."""
        return self.sizeHint()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold."""
        event.accept()
        self.setCursor(Qt.CursorShape.ClosedHandCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Say where."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(round(event.globalPosition().y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.dropped.emit(round(event.globalPosition().y()))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The dots in the middle."""
        size = self._theme.px(ICON_SIZE)
        box = QRect(0, 0, size, size)
        box.moveCenter(self.rect().center())
        painter = QPainter(self)
        path = self._theme.icon_path("dots-six-vertical")
        icons.draw(painter, path, box.toRectF(), QColor(self._theme.tokens.muted))


class DropMark(QWidget):
    """A line where a dragged row would go."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("dropMark")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        """All of it."""
        QPainter(self).fillRect(self.rect(), QColor(self._theme.tokens.accent))
