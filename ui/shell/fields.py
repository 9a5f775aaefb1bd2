"""The on-screen keyboard comes where one types: a tap into a field asks for it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtWidgets import QAbstractScrollArea, QAbstractSpinBox, QApplication, QPlainTextEdit, QTextEdit, QWidget

from app.pad.keyboard import KeyboardMode, SteamKeyboard
from ui.shell.hints import WRITTEN, held_by


def mode_of(field: QWidget) -> KeyboardMode:
    """What is typed into ``field``."""
    if isinstance(field, QAbstractSpinBox):
        return KeyboardMode.NUMBER
    return KeyboardMode.LINES if isinstance(field, QPlainTextEdit | QTextEdit) else KeyboardMode.ONE_LINE


def open_for(field: QWidget, keyboard: SteamKeyboard) -> None:
    """Ask for the keyboard where it does not cover ``field``."""
    corner = field.mapToGlobal(QPoint(0, 0))
    keyboard.open((corner.x(), corner.y(), field.width(), field.height()), mode_of(field))


class FieldTaps(QObject):
    """Sees taps into the field of ``window`` that has the keyboard, or gets it by that tap.

    Args:
        tapped: Called with the field.
    """

    def __init__(self, window: QWidget, tapped: Callable[[QWidget], object]) -> None:
        super().__init__(window)
        self._window, self._tapped = window, tapped
        self._field: QWidget | None = None
        self._watched: list[QWidget] = []
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The finger, or the button of the mouse, goes up."""
        if event.type() is QEvent.Type.MouseButtonRelease and self._field is not None:
            self._tapped(self._field)
        return False

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        for one in self._watched:
            one.removeEventFilter(self)
            one.destroyed.disconnect(self._lost)
        self._field, self._watched = None, []
        if now is None or now.window() is not self._window or held_by(now) not in WRITTEN:
            return
        self._field = now
        self._watched = [now.viewport() if isinstance(now, QAbstractScrollArea) else now]
        for one in self._watched:
            one.installEventFilter(self)
            one.destroyed.connect(self._lost)

    def _lost(self) -> None:
        self._field, self._watched = None, []
