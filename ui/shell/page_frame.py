"""The frame of a page in the one window: the way back, the heading, and what is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ui.theme import SPACE_L, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.icon_button import IconButton

SMALL_DIALOG = 560
"""Width of a dialog that does not fill the page, pixels at scale 1."""


class PageFrame(QWidget):
    """Heading and page.

    Args:
        inside: The page; the frame becomes its parent.
        fill: The page takes all the room; else it stands in the upper middle, as wide as a small dialog.

    Attributes:
        left: The way back was chosen.
    """

    left = Signal()

    def __init__(self, inside: QWidget, title: str, theme: Theme, *, fill: bool = True) -> None:
        super().__init__()
        self.inside = inside
        self.setObjectName("pageFrame")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self._back = IconButton(theme, "arrow-left", self.tr("Back"), shortcut="Esc")
        self._back.setObjectName("pageBack")
        self._back.clicked.connect(self.left)
        self._title = ElidedLabel()
        self._title.setObjectName("pageTitle")
        set_role(self._title, "title")
        self.set_title(title)
        self._head = QHBoxLayout()
        self._head.setContentsMargins(SPACE_S, SPACE_XS, SPACE_S, SPACE_XS)
        self._head.setSpacing(SPACE_S)
        self._head.addWidget(self._back)
        self._head.addWidget(self._title, 1)
        line = QFrame()
        line.setProperty("role", "hairline")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._head)
        column.addWidget(line)
        if fill:
            column.addWidget(inside, 1)
        else:
            self._stand_free(column, inside, theme.px(SMALL_DIALOG))
        self.setTabOrder(self._back, inside)

    def set_title(self, title: str) -> None:
        """The heading, also for screen readers."""
        self._title.setText(title)
        self.setAccessibleName(title)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape goes back, unless the page had a use for it."""
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)

    @staticmethod
    def _stand_free(column: QVBoxLayout, inside: QWidget, width: int) -> None:
        inside.setFixedWidth(width)
        row = QHBoxLayout()
        row.setContentsMargins(0, 4 * SPACE_L, 0, 0)
        row.addStretch()
        row.addWidget(inside)
        row.addStretch()
        column.addLayout(row)
        column.addStretch()
