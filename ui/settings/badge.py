"""A verdict as an icon and a word, both in its colour."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from ui.settings.row import plain_label
from ui.theme import ICON_SIZE, SPACE_S, Theme, set_role
from ui.widgets.empty_state import Emblem


class Badge(QWidget):
    """Shows nothing before `show_state`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._emblem = Emblem(theme, "info", size=ICON_SIZE)
        self._word = plain_label()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(self._emblem)
        row.addWidget(self._word, 1)

    def text(self) -> str:
        """The word."""
        return self._word.text()

    def show_state(self, icon: str, tint: str, text: str) -> None:
        """Show ``text`` with ``icon``; ``tint`` is a token and a role of labels."""
        self._emblem.set_icon(icon, tint)
        self._word.setText(text)
        set_role(self._word, tint)
