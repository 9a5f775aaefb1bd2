"""Room for one message above a page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.notices import Action, Notice, Severity, from_error
from engine.errors import VrambleError
from ui.theme import Theme
from ui.widgets.notice_card import NoticeCard


class MessageSlot(QWidget):
    """Shows the latest notice; takes no room without one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._card: NoticeCard | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.hide()

    @property
    def notice(self) -> Notice | None:
        """What is shown."""
        return self._card.notice if self._card is not None else None

    def show_notice(self, notice: Notice) -> None:
        """Show ``notice`` in place of what is shown."""
        self.clear()
        card = NoticeCard(notice, self._theme)
        card.closed.connect(lambda _by_user: self._drop(card))
        self._card = card
        self._column.addWidget(card)
        self.show()

    def show_error(self, error: VrambleError, label: str = "", run: Callable[[], None] | None = None) -> None:
        """Show a failure, with a button when there is something to do."""
        actions = (Action(label, run),) if run is not None else ()
        self.show_notice(from_error(error.code, error, actions))

    def show_info(self, text: str) -> None:
        """Show a sentence."""
        self.show_notice(Notice("info", Severity.INFO, text))

    def clear(self) -> None:
        """Show nothing."""
        if self._card is not None:
            self._drop(self._card)

    def _drop(self, card: NoticeCard) -> None:
        if card is self._card:
            self._card = None
            self.hide()
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()
