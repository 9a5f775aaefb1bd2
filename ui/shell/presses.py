"""Does what the buttons of a pad mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QWidget

from ui.shell.hints import WRITTEN, Press, held_by
from ui.shell.pages import Pages

KEYS = {
    Press.A: Qt.Key.Key_Return,
    Press.B: Qt.Key.Key_Escape,
    Press.UP: Qt.Key.Key_Up,
    Press.DOWN: Qt.Key.Key_Down,
    Press.LEFT: Qt.Key.Key_Left,
    Press.RIGHT: Qt.Key.Key_Right,
}


@runtime_checkable
class Turns(Protocol):
    """A page with several parts."""

    def turn(self, step: int) -> None:
        """Show the next part, or with -1 the one before."""


@dataclass(frozen=True)
class ChatDoings:
    """What buttons do in the chat.

    Attributes:
        scrolls: Whether there is a conversation to scroll.
        scroll: Scroll it by a screen: 1 down, -1 up.
        answering: Whether an answer is being written.
        stop: Stop it.
        focus: Give the keyboard to where one types.
    """

    new_chat: Callable[[], object]
    models: Callable[[], object]
    commands: Callable[[], object]
    scrolls: Callable[[], bool]
    scroll: Callable[[int], object]
    answering: Callable[[], bool]
    stop: Callable[[], object]
    focus: Callable[[], object]


def marks(widget: QWidget | None) -> bool:
    """Whether several rows can be chosen in ``widget``, one by one."""
    several = QAbstractItemView.SelectionMode.MultiSelection
    return isinstance(widget, QAbstractItemView) and widget.selectionMode() is several


class Presses(QObject):
    """Buttons become keys for what has the keyboard, or commands.

    Args:
        type_into: Opens the on-screen keyboard for a field.
    """

    def __init__(self, pages: Pages, chat: ChatDoings, type_into: Callable[[QWidget], object], window: QWidget) -> None:
        super().__init__(window)
        self._pages, self._chat, self._type_into, self._window = pages, chat, type_into, window

    def press(self, press: Press) -> None:
        """Do what ``press`` means now."""
        popup = QApplication.activePopupWidget()
        focused = QApplication.focusWidget()
        if popup is not None:
            inside: QWidget | None = popup.focusWidget()
            self._key(inside or popup, press)
        elif press is Press.A and focused is not None and held_by(focused) in WRITTEN:
            self._type_into(focused)
        elif press is Press.B and self._pages.top is None and self._chat.answering():
            self._chat.stop()
        elif press in KEYS:
            self._key(focused, press) if focused is not None else self._chat.focus()
        elif press is Press.X and focused is not None and marks(focused):
            self._send(focused, Qt.Key.Key_Space, " ")
        elif press in (Press.L1, Press.R1):
            self._turn(1 if press is Press.R1 else -1)
        elif self._pages.top is None:
            {Press.X: self._chat.new_chat, Press.Y: self._chat.models, Press.MENU: self._chat.commands}[press]()

    def _turn(self, step: int) -> None:
        top = self._pages.top
        if top is None:
            self._chat.scroll(step)
        elif isinstance(top, Turns):
            top.turn(step)

    @staticmethod
    def _key(target: QWidget, press: Press) -> None:
        key = KEYS.get(press)
        if key is not None:
            Presses._send(target, key, "\r" if key is Qt.Key.Key_Return else "")

    @staticmethod
    def _send(target: QWidget, key: Qt.Key, text: str) -> None:
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.postEvent(target, QKeyEvent(kind, key, Qt.KeyboardModifier.NoModifier, text))
