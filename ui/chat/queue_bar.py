"""What is sent next: messages that wait for the answer, greyed above the box."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app.chat.controller import ChatController
from ui.theme import ICON_SIZE, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import Emblem
from ui.widgets.icon_button import IconButton


class QueueBar(QWidget):
    """One line for each message.

    Attributes:
        edit_wanted: The message with this number belongs back into the box.
        drop_wanted: It should not be sent.
    """

    edit_wanted = Signal(int)
    drop_wanted = Signal(int)

    def attach(self, chat: ChatController, restore: Callable[[str], None]) -> None:
        """Follow what waits in the open conversation; ``restore`` puts a text back into the box."""

        def follow(_what: object = None) -> None:
            self.show_texts(chat.queue.of(chat.current.id if chat.current is not None else None))

        def take(number: int) -> str | None:
            return chat.queue.take(chat.current.id, number) if chat.current is not None else None

        chat.queue.changed.connect(follow)
        chat.current_changed.connect(follow)
        self.drop_wanted.connect(take)
        self.edit_wanted.connect(lambda number: restore(take(number) or ""))

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("queueBar")
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_XS)
        self._lines: list[QWidget] = []
        self.hide()

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show these, first one first."""
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [self._line(number, text) for number, text in enumerate(texts)]
        for line in self._lines:
            self._column.addWidget(line)
        self.setVisible(bool(texts))

    def _line(self, number: int, text: str) -> QWidget:
        line = QFrame()
        line.setProperty("role", "chip")
        label = ElidedLabel(" ".join(text.split())[:400])
        label.setObjectName("queuedMessage")
        label.set_tooltip(self.tr("Sent when the answer has ended: {}").format(text[:400]))
        set_role(label, "muted")
        edit = IconButton(self._theme, "pencil-simple", self.tr("Edit waiting message"))
        edit.setObjectName("editQueuedButton")
        edit.clicked.connect(lambda: self.edit_wanted.emit(number))
        drop = IconButton(self._theme, "x", self.tr("Remove waiting message"))
        drop.setObjectName("dropQueuedButton")
        drop.clicked.connect(lambda: self.drop_wanted.emit(number))
        row = QHBoxLayout(line)
        row.setContentsMargins(SPACE_S, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(Emblem(self._theme, "clock", size=ICON_SIZE))
        row.addWidget(label, 1)
        row.addWidget(edit)
        row.addWidget(drop)
        return line
