"""Arrow keys, and with them the D-pad, move the keyboard to what lies in their direction."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QAbstractSpinBox, QApplication, QComboBox, QScrollArea, QWidget

from ui.shell.nearest import Way, nearest
from ui.shell.own_arrows import leaves

WAYS = {
    Qt.Key.Key_Left: Way.LEFT,
    Qt.Key.Key_Right: Way.RIGHT,
    Qt.Key.Key_Up: Way.UP,
    Qt.Key.Key_Down: Way.DOWN,
}
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
FREE = 24
"""Pixels that stay free around what is scrolled to."""


class Arrows(QObject):
    """Looks at the keys of whatever has the keyboard in ``window``.

    Up and down go through a form without changing it; left and right change numbers and sliders, as far as they can be
    changed. Enter opens lists of
    choices and presses everything that can be pressed, so that one button of a pad does.

    Args:
        area: The part of the window in which the keyboard moves now.

    Attributes:
        popup_changed: A menu or list has opened over the window, or is closing.
    """

    popup_changed = Signal()

    def __init__(self, window: QWidget, area: Callable[[], QWidget]) -> None:
        super().__init__(window)
        self._window, self._area = window, area
        self._watched: QWidget | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the widget that has the keyboard, before it sees them."""
        if isinstance(event, QFocusEvent) and event.reason() is Qt.FocusReason.PopupFocusReason:
            self.popup_changed.emit()
        if event.type() is not QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        if not isinstance(watched, QWidget) or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = Qt.Key(event.key())
        if key in ENTER:
            return _enter(watched, again=event.isAutoRepeat())
        way = WAYS.get(key)
        if way is None:
            return False
        if isinstance(watched, QAbstractSpinBox) and way in (Way.LEFT, Way.RIGHT):
            return _step(watched, 1 if way is Way.RIGHT else -1) or self._move(watched, way)
        return leaves(watched, way) and self._move(watched, way)

    def unused(self, event: QKeyEvent) -> bool:
        """A key that nothing in the window had a use for; True: it moved the keyboard."""
        way = WAYS.get(Qt.Key(event.key()))
        focused = QApplication.focusWidget()
        if way is None or focused is None or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        return self._move(focused, way)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._watched is not None:
            self._watched.removeEventFilter(self)
            self._watched.destroyed.disconnect(self._lost)
        self._watched = now if now is not None and now.window() is self._window else None
        if self._watched is not None:
            self._watched.installEventFilter(self)
            self._watched.destroyed.connect(self._lost)

    def _lost(self) -> None:
        self._watched = None

    def _move(self, start: QWidget, way: Way) -> bool:
        """Whether the key is used up: always, where there is nowhere to go, because nothing else may happen."""
        found = self.target(start, way)
        if found is not None:
            give_focus(found, way)
        return True

    def target(self, start: QWidget, way: Way) -> QWidget | None:
        """What gets the keyboard from ``start`` in this direction."""
        area = self._area()
        stops = [one for one in stops_in(area) if one is not start and not start.isAncestorOf(one)]
        scroll = _scroll_of(start, area)
        inside = [one for one in stops if scroll is not None and scroll.isAncestorOf(one)]
        others = [one for one in stops if one not in inside and _seen(one, area)]
        origin = _place(start, area)
        for group in (inside, others):
            found = nearest(origin, [_place(one, area) for one in group], way)
            if found is not None:
                return group[found]
        return None


def stops_in(area: QWidget) -> Iterator[QWidget]:
    """What the keyboard can go to in ``area``: what Tab visits, except scrolled frames around other stops."""
    for one in area.findChildren(QWidget):
        if _takes_keyboard(one) and one.isVisible() and one.isEnabled():
            proxy: QWidget | None = one.focusProxy()
            if proxy is None and not isinstance(one, QScrollArea):
                yield one


def _takes_keyboard(widget: QWidget) -> bool:
    """Of buttons that exclude each other Tab visits only the chosen one."""
    if isinstance(widget, QAbstractButton) and widget.group() is not None:
        return widget.focusPolicy() is not Qt.FocusPolicy.NoFocus
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def _step(box: QAbstractSpinBox, step: int) -> bool:
    """Whether the number could be changed."""
    before = box.text()
    box.stepBy(step)
    return box.text() != before


def _enter(widget: QWidget, *, again: bool) -> bool:
    """Enter where Qt has no use for it, or another one than pressing."""
    if isinstance(widget, QComboBox) and not widget.isEditable():
        widget.showPopup()
        return True
    if isinstance(widget, QAbstractButton):
        if not again:
            widget.click()
        return True
    return False


def _place(widget: QWidget, area: QWidget) -> QRect:
    return QRect(widget.mapTo(area, QPoint(0, 0)), widget.size())


def _scroll_of(widget: QWidget, area: QWidget) -> QScrollArea | None:
    parent = widget.parentWidget()
    while parent is not None and parent is not area:
        if isinstance(parent, QScrollArea):
            return parent
        parent = parent.parentWidget()
    return None


def _seen(widget: QWidget, area: QWidget) -> bool:
    """Not scrolled out of sight."""
    scroll = _scroll_of(widget, area)
    if scroll is None:
        return True
    viewport = scroll.viewport()
    return QRect(widget.mapTo(viewport, QPoint(0, 0)), widget.size()).intersects(viewport.rect())


def give_focus(widget: QWidget, way: Way) -> None:
    """Give ``widget`` the keyboard and scroll to it."""
    forward = way in (Way.RIGHT, Way.DOWN)
    widget.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget, FREE, FREE)
        parent = parent.parentWidget()
