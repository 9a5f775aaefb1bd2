"""Ctrl+F in the transcript: joins the bar, the search and what is shown."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from ui.chat.transcript.find_bar import FindBar
from ui.chat.transcript.finding import Finder
from ui.chat.transcript.host import Host
from ui.chat.transcript.selection import Spot
from ui.theme import Theme

SETTLE_MS = 300
"""After a change of the messages, before they are looked through again."""
TYPED_MS = 60
"""After a key, before the search begins."""


class Find(QObject):
    """Owns the bar above what ``view`` shows, and shows the match that is chosen.

    Args:
        parent: The view itself; the bar stands in its upper margin.

    Attributes:
        room_changed: The bar needs so many pixels above what is shown.
        left: The bar was closed.
    """

    left = Signal()
    room_changed = Signal(int)

    def __init__(self, view: Host, model: QAbstractItemModel, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._view = view
        self.bar = FindBar(theme, parent)
        self.finder = Finder(view.content, self._show, self)
        self._later, self._typing = self._timer(SETTLE_MS, self.finder.refresh), self._timer(TYPED_MS, self._search)
        self.bar.typed.connect(lambda _words: self._typing.start())
        self.bar.stepped.connect(self.finder.step)
        self.bar.closed.connect(self._close)
        self.finder.changed.connect(self._follow)
        theme.changed.connect(self._fit)
        for signal in (model.modelReset, model.rowsInserted, model.rowsRemoved, model.dataChanged):
            signal.connect(self._messages_changed)

    def _timer(self, after: int, call: object) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(after)
        timer.timeout.connect(call)
        return timer

    def open(self, words: str = "") -> None:
        """Show the bar; what is selected is looked for."""
        selected = self._view.selected_text()
        self.bar.open_with(words or (selected if "\n" not in selected and len(selected) <= 200 else ""))
        self._fit()

    def place(self) -> None:
        """The view has another size."""
        self.bar.place(self._view.viewport().geometry())

    def show_words(self, row: int, words: str) -> None:
        """Look for ``words`` from message number ``row`` on, with the bar open."""
        self.open(words)
        self._typing.stop()
        self.finder.search(words, (row, 0, 0))

    def _fit(self) -> None:
        """The bar is as high as its text, which may grow."""
        if not self.bar.isHidden():
            self.room_changed.emit(self.bar.needed_height)
            self.place()

    def _search(self) -> None:
        placed = self._view.content.placed
        start: Spot = (placed[0].row, placed[0].section, 0) if placed else (0, 0, 0)
        chosen = self.finder.chosen
        if chosen is not None:
            start = self.finder.matches[chosen][:3]
        self.finder.search(self.bar.words, start)

    def _show(self, spot: Spot, end: int) -> None:
        self._view.reveal(spot)
        self._view.selection.anchor, self._view.selection.cursor = spot, (spot[0], spot[1], end)

    def _follow(self) -> None:
        self.bar.tell(self.finder)
        self._view.scene.marks = self.finder.marks if self.finder.active else None
        self._view.viewport().update()

    def _messages_changed(self) -> None:
        if self.finder.active and not self._later.isActive():
            self._later.start()

    def _close(self) -> None:
        self._typing.stop()
        self.finder.stop()
        self.room_changed.emit(0)
        self.left.emit()
