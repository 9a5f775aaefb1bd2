"""The buttons inside the transcript: real ones, so that mouse, keyboard and screen reader find them.

They belong to what is seen. When a block scrolls away its buttons are kept for the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from ui.chat.transcript.kinds import Kind, labels
from ui.theme import Theme
from ui.widgets.text_button import TextButton

CONFIRMED_MS = 1600


STEPS = (Kind.VERSION_BACK, Kind.VERSION_ON)
"""Buttons that bring another message in the place of their own."""


class Key(NamedTuple):
    """Which button: its kind, the message's id and the section it belongs to (0: the whole message)."""

    kind: Kind
    message: str
    section: int


class Wanted(NamedTuple):
    """A button that should be seen: its right or left top corner, whether it is pressed in, which one it is.

    ``label`` and ``icon`` take the place of those of its kind.
    """

    key: Key
    corner: QPoint
    from_right: bool
    checked: bool | None = None
    which: str = ""
    enabled: bool = True
    label: str = ""
    icon: str = ""


class ActionButton(TextButton):
    """Icon and word, or a square with only an icon; says for a moment that it did what was asked.

    A click leaves the focus where one types; the Tab key brings it here.

    Attributes:
        by_mouse: The mouse is what presses it now.
    """

    def __init__(self, theme: Theme, kind: Kind, label: str, done: str, name: str, parent: QWidget) -> None:
        super().__init__(theme, label, kind.value[1], parent, role="quiet" if label else "icon")
        self.kind, self._label, self._done, self._name = kind, label, done, name
        self.key: Key | None = None
        self.by_mouse = False
        self._icon_shown = kind.value[1]
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setObjectName(kind.value[0])
        self.setAccessibleName(name)
        self.setToolTip(name)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.rest)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The click happens in here."""
        self.by_mouse = True
        super().mouseReleaseEvent(event)
        self.by_mouse = False

    def say_which(self, which: str) -> None:
        """Tell a screen reader which of several it is."""
        name = f"{self._name} {which}".strip()
        if self.accessibleName() != name:
            self.setAccessibleName(name)

    def show_words(self, label: str, icon: str) -> None:
        """Say what it does now."""
        if label != self._label:
            self._label = self._done = self._name = label
            self.measure()
            self.setText(label)
        if icon != self._icon_shown:
            self._icon_shown = icon
            self.set_icon(icon)

    def confirm(self) -> None:
        """Say that it is done."""
        self.setText(self._done)
        self.set_icon("check")
        self._timer.start(CONFIRMED_MS)

    def rest(self) -> None:
        """Say what it does."""
        self._timer.stop()
        if self.text() != self._label:
            self.setText(self._label)
            self.set_icon(self.kind.value[1])

    def measure(self) -> None:
        """Be as wide as the longer of the two labels, so that nothing moves when they change."""
        self._paint_icon()
        shown = self.text()
        self.setText(self._done)
        width = self.sizeHint().width()
        self.setText(self._label)
        self.resize(max(width, self.sizeHint().width()), self.sizeHint().height())
        self.setText(shown)


class Buttons(QWidget):
    """Makes, places and takes away the buttons over the viewport. It is itself never seen.

    Attributes:
        pressed: The `ActionButton` that was pressed.
    """

    pressed = Signal(object)

    def __init__(self, theme: Theme, viewport: QWidget) -> None:
        super().__init__(viewport)
        self.hide()
        self._theme, self._viewport = theme, viewport
        self._shown: dict[Key, ActionButton] = {}
        self._spare: dict[Kind, list[ActionButton]] = {kind: [] for kind in Kind}
        self._order: list[Key] = []
        self._handed_on: Key | None = None
        self._next: Sequence[Wanted] | None = None
        self._busy = False
        self._labels = labels()

    def show_these(self, wanted: Sequence[Wanted]) -> None:
        """Have exactly the ``wanted`` buttons on screen, in this order for the Tab key.

        A button that goes may leave focus and mouse to what asks for others: those follow when these are placed.
        """
        self._next = wanted
        if self._busy:
            return
        self._busy = True
        try:
            while self._next is not None:
                now, self._next = self._next, None
                self._show(now)
        finally:
            self._busy = False

    def _show(self, wanted: Sequence[Wanted]) -> None:
        keys = [one.key for one in wanted]
        changed, self._order = keys != self._order, keys
        gone = [key for key in self._shown if key not in keys]
        left = self._shown[self._handed_on] if self._handed_on in gone else None
        for key in gone:
            self._take_away(key)
        previous: QWidget | None = self._viewport.parentWidget()
        for one in wanted:
            button = self._shown.get(one.key) or self._bring(one.key)
            if one.label:
                button.show_words(one.label, one.icon)
            button.say_which(one.which)
            button.setEnabled(one.enabled)
            if one.checked is not None:
                button.setCheckable(True)
                button.setChecked(one.checked)
            corner = one.corner - QPoint(button.width(), 0) if one.from_right else one.corner
            if button.pos() != corner:
                button.move(corner)
            if changed and previous is not None:
                QWidget.setTabOrder(previous, button)
            button.show()
            previous = button
        if left is not None:
            self._pass_focus(left, wanted)

    def hand_on(self, key: Key) -> None:
        """When this button goes away with its message, its focus goes to the one that stands there then."""
        self._handed_on = key

    def _pass_focus(self, left: ActionButton, wanted: Sequence[Wanted]) -> None:
        self._handed_on = None
        heirs = [one for one in wanted if one.key.kind in STEPS and one.enabled]
        if heirs:
            nearest = min(heirs, key=lambda one: (abs(one.corner.y() - left.y()), one.key.kind is not left.kind))
            self._shown[nearest.key].setFocus()

    def measure(self) -> None:
        """The text size is another one."""
        for button in [*self._shown.values(), *(one for spare in self._spare.values() for one in spare)]:
            button.measure()

    def size_of(self, key: Key) -> QSize:
        """Size of a button, to place the next one beside it."""
        return (self._shown.get(key) or self._bring(key)).size()

    def confirm(self, key: Key) -> None:
        """Let the button say that it is done."""
        if key in self._shown:
            self._shown[key].confirm()

    def _bring(self, key: Key) -> ActionButton:
        spare = self._spare[key.kind]
        button = spare.pop() if spare else self._make(key.kind)
        button.key = key
        self._shown[key] = button
        return button

    def _make(self, kind: Kind) -> ActionButton:
        label, done, name = self._labels[kind]
        button = ActionButton(self._theme, kind, label, done, name, self._viewport)
        button.clicked.connect(lambda: self.pressed.emit(button))
        button.ensurePolished()
        button.measure()
        return button

    def _take_away(self, key: Key) -> None:
        button = self._shown.pop(key)
        if button.hasFocus() and (view := self._viewport.parentWidget()) is not None:
            view.setFocus()
        button.hide()
        button.rest()
        button.key = None
        self._spare[key.kind].append(button)
