"""Windows and dialogs as pages of the one window that Game Mode shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from app.folders.look import FolderLook
from ui.shell.page_frame import PageFrame
from ui.theme import Theme

NAME = "pages"
BEHIND_TITLE = " – Vramble"
"""What titles of windows end with, and headings of pages do not."""


@dataclass(frozen=True)
class _Step:
    """A page on the way, and what had the keyboard when it was opened."""

    frame: PageFrame
    focus_before: QWidget | None


class Pages(QObject):
    """The way from the chat to the page that is shown.

    A page is left by the button of its heading, by Escape, or by closing or hiding the widget that it shows. The
    keyboard returns to where it was.

    Args:
        stack: Its first widget is the chat.
        folders: What the own file picker looks into.

    Attributes:
        changed: Another page, or the chat, is shown.
        last_folder: The folder that a file picker showed last.
    """

    changed = Signal()

    def __init__(self, stack: QStackedWidget, theme: Theme, folders: FolderLook, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(NAME)
        self._stack, self.theme, self.folders = stack, theme, folders
        self.last_folder: Path | None = None
        self._frames: dict[int, PageFrame] = {}
        self._way: list[_Step] = []

    @property
    def top(self) -> QWidget | None:
        """The widget whose page is shown; None: the chat."""
        return self._way[-1].frame.inside if self._way else None

    def show_page(self, widget: QWidget, *, fill: bool = True) -> None:
        """Show ``widget`` under its window title, over what is shown now; one that is on the way already comes back.

        Give it the keyboard afterwards: until then the first control has it.
        """
        place = self._place_of(widget)
        if place is None:
            frame = self._frame_of(widget, fill=fill)
            self._way.append(_Step(frame, QApplication.focusWidget()))
        else:
            frame = self._way[place].frame
            self._close_above(place)
        frame.set_title(widget.windowTitle().removesuffix(BEHIND_TITLE))
        widget.show()
        self._stack.setCurrentWidget(frame)
        self.changed.emit()

    def back(self) -> None:
        """Close the page that is shown; its widget may refuse."""
        if self._way:
            self._way[-1].frame.inside.close()

    def to_chat(self) -> None:
        """Close all pages."""
        if self._way:
            way, self._way = self._way, []
            self._return_to(way[0].focus_before)
            for step in reversed(way):
                step.frame.inside.close()

    def focus(self) -> None:
        """Give the keyboard to the page that is shown."""
        if self.top is not None:
            inside: QWidget | None = self.top.focusWidget()
            (inside or self.top).setFocus(Qt.FocusReason.OtherFocusReason)

    def remember_folder(self, folder: Path) -> None:
        """The next picker begins there."""
        self.last_folder = folder

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The widget of a page was closed or hidden by itself."""
        if event.type() is QEvent.Type.HideToParent:
            self._gone(watched)
        return False

    def _frame_of(self, widget: QWidget, *, fill: bool) -> PageFrame:
        frame = self._frames.get(id(widget))
        if frame is not None:
            return frame
        widget.setWindowFlags(Qt.WindowType.Widget)
        frame = PageFrame(widget, "", self.theme, fill=fill)
        frame.left.connect(self.back)
        widget.setAttribute(Qt.WidgetAttribute.WA_Moved)  # else a dialog moves to the middle of its window
        widget.installEventFilter(self)
        key = id(widget)
        self._frames[key] = frame
        widget.destroyed.connect(lambda: self._forget(key))
        self._stack.addWidget(frame)
        return frame

    def _gone(self, widget: QObject) -> None:
        place = self._place_of(widget)
        if place is not None:
            self._close_above(place)
            self._return_to(self._way.pop().focus_before)

    def _place_of(self, widget: QObject) -> int | None:
        return next((n for n, step in enumerate(self._way) if step.frame.inside is widget), None)

    def _close_above(self, place: int) -> None:
        above, self._way = self._way[place + 1 :], self._way[: place + 1]
        for step in reversed(above):
            step.frame.inside.close()

    def _return_to(self, focus: QWidget | None) -> None:
        frame = self._way[-1].frame if self._way else self._stack.widget(0)
        if frame is not None:
            self._stack.setCurrentWidget(frame)
            if focus is not None and shiboken6.isValid(focus) and frame.isAncestorOf(focus):
                focus.setFocus(Qt.FocusReason.OtherFocusReason)
        self.changed.emit()

    def _forget(self, key: int) -> None:
        """A dialog that is gone takes its frame with it."""
        frame = self._frames.pop(key, None)
        self._way = [step for step in self._way if step.frame is not frame]
        if frame is not None and shiboken6.isValid(frame):
            self._stack.removeWidget(frame)
            frame.deleteLater()


def pages_of(widget: QWidget | None) -> Pages | None:
    """The pages of the window that ``widget`` belongs to; None where windows of their own are shown."""
    return widget.window().findChild(Pages, NAME) if widget is not None else None
