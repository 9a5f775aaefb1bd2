"""A paragraph of fixed width that takes the height it needs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLabel, QWidget

from ui.theme import Theme, set_role


class WrappedLabel(QLabel):
    """Plain text, centred, ``width`` pixels wide at scale 1 where there is room."""

    def __init__(self, theme: Theme, text: str, width: int, role: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme, self._wanted = theme, width
        self._room: int | None = None
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self, role)
        theme.changed.connect(self._fix)
        self._fix()

    def set_room(self, room: int) -> None:
        """Be no wider than ``room`` pixels."""
        if room != self._room:
            self._room = room
            self._fix()

    def hasHeightForWidth(self) -> bool:
        """The width is fixed: a layout that asks for another one would get a wrong height."""
        return False

    def sizeHint(self) -> QSize:
        """As high as the wrapped text is."""
        width = self._width()
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """Never cut."""
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        """Another font needs another height."""
        super().changeEvent(event)
        self.updateGeometry()

    def showEvent(self, event: QShowEvent) -> None:
        """Only now the stylesheet has given the final font."""
        super().showEvent(event)
        self.updateGeometry()

    def _width(self) -> int:
        wanted = self._theme.px(self._wanted)
        return wanted if self._room is None else max(1, min(wanted, self._room))

    def _fix(self) -> None:
        self.setFixedWidth(self._width())
        self.updateGeometry()
