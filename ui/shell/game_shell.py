"""What the window consists of in Game Mode: the chat and pages over it."""

from __future__ import annotations

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.folders.look import FolderLook
from ui.shell.pages import Pages
from ui.theme import Theme


class GameShell(QWidget):
    """The central widget of the one window.

    Attributes:
        pages: The way from the chat to the page that is shown.
    """

    def __init__(self, theme: Theme, folders: FolderLook, parent: QWidget) -> None:
        super().__init__(parent)
        self._stack = QStackedWidget()
        self.pages = Pages(self._stack, theme, folders, self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._stack, 1)

    def take_chat(self, chat: QWidget) -> None:
        """Show ``chat`` under all pages."""
        self._stack.insertWidget(0, chat)
