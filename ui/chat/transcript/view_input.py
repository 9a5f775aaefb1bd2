"""What reaches the transcript from mouse, keyboard, touch and pointer, handed to those that know what it means."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QScrollEvent,
    QScrollPrepareEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QScroller, QWidget

from ui.chat.transcript import hit
from ui.chat.transcript.actions import Actions
from ui.chat.transcript.keys import Keys
from ui.chat.transcript.layout import Layout
from ui.chat.transcript.mouse import Mouse
from ui.chat.transcript.scene import Scene


class InputView(QAbstractScrollArea):
    """The half of the transcript view that takes events. The other half shows."""

    content: Layout
    scene: Scene
    _mouse: Mouse
    _keys: Keys
    _actions: Actions
    _value = 0.0
    """How far down the view is, as the scroll bar shows it."""
    _touched = 0.0
    _syncing = False

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.viewport().setMouseTracking(True)
        self.verticalScrollBar().valueChanged.connect(self._bar_moved)
        QScroller.grabGesture(self.viewport(), QScroller.ScrollerGestureType.TouchGesture)

    def settle(self) -> None:
        """What was placed belongs to the rows as they are now."""
        raise NotImplementedError

    def scroll_by(self, pixels: float) -> None:
        """Move down."""
        raise NotImplementedError

    def set_hovered(self, row: int | None) -> None:
        """This message is under the pointer."""
        raise NotImplementedError

    def sync_bar(self) -> None:
        """Have the scroll bar say how far down the view is."""
        bar = self.verticalScrollBar()
        self._syncing = True
        self._value = self.content.offset
        bar.setPageStep(max(1, self.viewport().height()))
        bar.setSingleStep(self.content.look.line)
        bar.setRange(0, round(self.content.range))
        bar.setValue(round(self._value))
        self._syncing = False

    def _bar_moved(self, value: int) -> None:
        if not self._syncing:
            self.scroll_by(value - self._value)

    def viewportEvent(self, event: QEvent) -> bool:
        """Touch scrolling by its distance, and the address of a link under the pointer."""
        if event.type() == QEvent.Type.ScrollPrepare and isinstance(event, QScrollPrepareEvent):
            event.setViewportSize(self.viewport().size())
            event.setContentPosRange(QRectF(0, 0, 0, self.content.range))
            event.setContentPos(QPointF(0, self._value))
            self._touched = self._value
            event.accept()
            return True
        if event.type() == QEvent.Type.Scroll and isinstance(event, QScrollEvent):
            y = event.contentPos().y()
            self.scroll_by(y - self._touched)
            self._touched = y
            return True
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._actions.show_address(hit.link_at(self.scene, QPointF(event.pos())), event.globalPos())
            return True
        if event.type() == QEvent.Type.Leave:
            self.set_hovered(None)
        return bool(super().viewportEvent(event))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Pixel by pixel where the device says so; sideways inside code and tables."""
        self.settle()
        self._mouse.wheel(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a selection, press a link or take a bar."""
        self.settle()
        self._mouse.press(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection, or show what is under the pointer."""
        self.settle()
        self._mouse.move(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a selection or follow a link."""
        self.settle()
        self._mouse.release(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select a word."""
        self.settle()
        self._mouse.double_click(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what can be done with the message."""
        self.settle()
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        self._actions.show_menu(self._keys.menu_place() if by_key else event.pos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, walk through messages, select, copy; all else goes to the parent."""
        self.settle()
        if not self._keys.press(event):
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring when the keyboard brought the focus."""
        self._keys.focus_in(event.reason())
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The ring goes with the focus, unless a menu or a button of a message has it."""
        self._keys.focus_out(event.reason())
        super().focusOutEvent(event)
