"""What can wait: reading long messages on, colouring code. Done in short portions between events."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, QTimer

from ui.chat.transcript.budget import Tired, deadline
from ui.chat.transcript.code_view import CodeView
from ui.chat.transcript.layout import Layout

SLICE = 0.006
"""Seconds of one portion."""
FIRST_COLOURS = 0.003
"""Seconds spent at most on colouring code before a paint."""


class Background(QObject):
    """Works on what is seen until all of it is read and coloured.

    Args:
        refresh: Called when heights changed.
        repaint: Called when only colours changed.
    """

    def __init__(
        self, content: Layout, refresh: Callable[[], None], repaint: Callable[[], None], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._content, self._refresh, self._repaint = content, refresh, repaint
        self._timer = QTimer(self)
        self._timer.setInterval(1)
        self._timer.timeout.connect(self._work)

    def attend(self) -> None:
        """Something else is seen now: colour what is quick, leave the rest for later."""
        self._colour(deadline(FIRST_COLOURS))
        if self._has_work():
            self._timer.start()

    def _has_work(self) -> bool:
        return self._content.unread() is not None or next(self._uncoloured(), None) is not None

    def _uncoloured(self) -> Iterator[CodeView]:
        for placed in self._content.placed:
            view = self._content.message(placed.row).views.get(placed.section - 1)
            if isinstance(view, CodeView) and not view.highlighter.done:
                yield view

    def _colour(self, tired: Tired) -> bool:
        changed = False
        for view in self._uncoloured():
            changed = view.colour_on(tired) or changed
            if tired():
                break
        return changed

    def _work(self) -> None:
        tired, unread = deadline(SLICE), self._content.unread()
        if unread is not None:
            self._content.messages.read_on(unread, tired)
            self._refresh()
        elif self._colour(tired):
            self._repaint()
        if not self._has_work():
            self._timer.stop()
