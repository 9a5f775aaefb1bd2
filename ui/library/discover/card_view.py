"""A model card: the Markdown of its owner in the program's own view, read-only, without pictures."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from engine.chat.records import Role, Status
from ui.chat.transcript.actions import Actions
from ui.chat.transcript.buttons import Buttons
from ui.chat.transcript.row import Row
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
NOWHERE = QModelIndex()


class CardModel(QAbstractListModel):
    """One row with the card, or none."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._row: Row | None = None

    def show(self, name: str, author: str, text: str) -> None:
        """``name`` tells cards apart; ``author`` stands above the text."""
        self.beginResetModel()
        self._row = Row(id=name, role=Role.OTHER, text=text, status=Status.DONE, author=author) if text else None
        self.endResetModel()

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """One card at most."""
        return 0 if parent.isValid() or self._row is None else 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The whole row, as the transcript takes it."""
        return self._row if index.isValid() and role == Qt.ItemDataRole.UserRole else None


class CardActions(Actions):
    """Reading and copying: nothing here changes a conversation."""

    read_only = True


class CardView(TranscriptView):
    """Shows a card from its beginning. Links are handed to the owner, who asks before one is opened."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._card = CardModel()
        super().__init__(self._card, theme, parent)
        self._card.setParent(self)
        self.setObjectName("modelCard")
        self.setAccessibleName(self.tr("Model card"))

    def show_card(self, repo: str, text: str, *, cut: bool = False) -> None:
        """Show the card ``text`` of ``repo``; ``cut``: it goes on on the Hub."""
        above = self.tr("Written by the owner of {0}. Pictures are not loaded.").format(repo)
        if cut:
            text += "\n\n" + self.tr("*The rest of this card is on its page.*")
        self._card.show(repo, above, text)
        self.scroll_to_start()

    def _make_actions(self, buttons: Buttons) -> Actions:
        return CardActions(self, buttons)
