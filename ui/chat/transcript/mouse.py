"""The pointer in the transcript: selecting, links, sideways bars, the wheel."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QClipboard, QGuiApplication, QMouseEvent, QPointingDevice, QWheelEvent

from ui.chat.transcript import hit
from ui.chat.transcript.actions import Actions
from ui.chat.transcript.caret import CaretMover
from ui.chat.transcript.host import Host

WHEEL_LINES = 3
AUTOSCROLL_MS = 30
PRIMARY_LIMIT = 100_000
"""Largest selection that is also put on the X11 primary selection, characters."""


class Mouse(QObject):
    """Handles the mouse events that the view hands over."""

    def __init__(self, view: Host, actions: Actions) -> None:
        super().__init__(actions)
        self._view, self._actions = view, actions
        self._caret = CaretMover(view.content)
        self._selecting = False
        self._link = ""
        self._bar: hit.Sideways | None = None
        self._last = QPointF()
        self._clicked_at, self._clicks = QPointF(), 0
        self._autoscroll = QTimer(self)
        self._autoscroll.setInterval(AUTOSCROLL_MS)
        self._autoscroll.timeout.connect(self._scroll_on)

    def press(self, event: QMouseEvent) -> None:
        """Begin a selection, press a link or take a bar."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        point = event.position()
        self._view.setFocus(Qt.FocusReason.MouseFocusReason)
        self._last = point
        self._bar = hit.bar_at(self._view.scene, point)
        if self._bar is not None:
            return
        self._link = hit.link_at(self._view.scene, point)
        spot = hit.spot_at(self._view.scene, point)
        by_finger = event.pointerType() is QPointingDevice.PointerType.Finger
        if spot is None or by_finger or hit.on_sticky_head(self._view.scene, point):
            return
        self._selecting = True
        near = (point - self._clicked_at).manhattanLength() < 6
        if near and self._clicks == 2:
            self._select(*self._caret.part_around(spot))
            self._selecting = False
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._view.selection.extend(spot)
        else:
            self._view.selection.start(spot)
        self._clicked_at, self._clicks = point, 1
        self._view.viewport().update()

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word; a third click selects the paragraph."""
        spot = hit.spot_at(self._view.scene, event.position())
        if spot is None or event.button() is not Qt.MouseButton.LeftButton:
            return
        self._select(*self._caret.word_around(spot))
        self._clicked_at, self._clicks = event.position(), 2
        QTimer.singleShot(QGuiApplication.styleHints().mouseDoubleClickInterval(), self, self._forget_clicks)

    def _forget_clicks(self) -> None:
        self._clicks = 0

    def _select(self, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
        self._view.selection.anchor, self._view.selection.cursor = first, last
        self._link = ""
        self._view.viewport().update()

    def move(self, event: QMouseEvent) -> None:
        """Extend the selection, drag a bar, or show what is under the pointer."""
        point = event.position()
        if self._bar is not None:
            self._drag_bar(point.x() - self._last.x())
            self._last = point
            return
        self._last = point
        if self._selecting and event.buttons() & Qt.MouseButton.LeftButton:
            self._extend()
            inside = 0 <= point.y() <= self._view.viewport().height()
            if inside:
                self._autoscroll.stop()
            elif not self._autoscroll.isActive():
                self._autoscroll.start()
            return
        self._hover(point)

    def _drag_bar(self, distance: float) -> None:
        assert self._bar is not None
        room = self._bar.width - self._bar.bar().width()
        if room > 0 and self._bar.scroll_to(self._bar.state.scroll + distance * self._bar.overflow() / room):
            self._view.viewport().update()

    def _extend(self) -> None:
        spot = hit.spot_at(self._view.scene, self._last)
        if spot is not None and spot != self._view.selection.cursor:
            self._view.content.follow = False  # what is being selected must not move away
            self._view.selection.extend(spot)
            self._view.viewport().update()

    def _scroll_on(self) -> None:
        """The pointer is held above or below the view: the view moves under the selection."""
        height, y = self._view.viewport().height(), self._last.y()
        beyond = y if y < 0 else max(0.0, y - height)
        self._view.scroll_by(max(-60.0, min(60.0, beyond)))
        self._extend()

    def _hover(self, point: QPointF) -> None:
        placed = hit.placed_at(self._view.scene, point.y())
        self._view.set_hovered(placed.row if placed else None)
        self._view.viewport().setCursor(self._cursor(point))

    def _cursor(self, point: QPointF) -> Qt.CursorShape:
        scene = self._view.scene
        if hit.link_at(scene, point):
            return Qt.CursorShape.PointingHandCursor
        found = hit.hit(scene, point)
        on_text = found is not None and found.on_text and found.view.length > 0
        if on_text and not hit.on_sticky_head(scene, point) and hit.bar_at(scene, point) is None:
            return Qt.CursorShape.IBeamCursor
        return Qt.CursorShape.ArrowCursor

    def release(self, event: QMouseEvent) -> None:
        """End what was begun; a click on a link follows it."""
        if event.button() is not Qt.MouseButton.LeftButton:
            return
        self._autoscroll.stop()
        if self._selecting:
            self._view.content.follow = self._view.content.at_end()
        self._bar, self._selecting = None, False
        link, self._link = self._link, ""
        if link and self._view.selection.ends is None and hit.link_at(self._view.scene, event.position()) == link:
            self._actions.follow(link)
        elif self._view.selection.ends is not None:
            self._set_primary()

    def _set_primary(self) -> None:
        clipboard = QGuiApplication.clipboard()
        if clipboard.supportsSelection() and len(text := self._view.selected_text()) <= PRIMARY_LIMIT:
            clipboard.setText(text, QClipboard.Mode.Selection)

    def wheel(self, event: QWheelEvent) -> None:
        """Pixels where the device gives them, else lines."""
        pixels, degrees = event.pixelDelta(), event.angleDelta()
        line = self._view.content.look.line * WHEEL_LINES
        x = float(pixels.x()) if not pixels.isNull() else degrees.x() / 120 * line
        y = float(pixels.y()) if not pixels.isNull() else degrees.y() / 120 * line
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier and not x:
            x, y = y, 0.0
        if abs(x) > abs(y) and (wide := hit.sideways_at(self._view.scene, event.position())):
            if wide.scroll_to(wide.state.scroll - x):
                self._view.viewport().update()
        elif y:
            self._view.scroll_by(-y)
        event.accept()
