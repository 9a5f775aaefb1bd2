"""What a page shows while it has nothing: an icon, a heading, one sentence, one or two buttons."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme
from ui.theming import icons
from ui.widgets.wrapped_label import WrappedLabel

ICON = 40
WIDTH = 460


class Emblem(QWidget):
    """A quiet icon. Decoration: it says nothing that the text does not say."""

    def __init__(
        self, theme: Theme, icon: str, parent: QWidget | None = None, *, tint: str = "muted", size: int = ICON
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon, self._tint, self._size = theme, icon, tint, size
        self.setSizePolicy(self.sizePolicy().Policy.Fixed, self.sizePolicy().Policy.Fixed)
        theme.changed.connect(self.update)

    def set_icon(self, icon: str, tint: str) -> None:
        """Show another icon, in the colour of the token ``tint``."""
        self._icon, self._tint = icon, tint
        self.update()

    def sizeHint(self) -> QSize:
        """A square that grows with the text."""
        return QSize(self._theme.px(self._size), self._theme.px(self._size))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the icon in the token's colour of now."""
        painter = QPainter(self)
        colour = QColor(getattr(self._theme.tokens, self._tint))
        icons.draw(painter, self._theme.icon_path(self._icon), QRectF(self.rect()), colour)


class EmptyState(QWidget):
    """A column in the middle of the room it gets."""

    def __init__(
        self,
        theme: Theme,
        icon: str,
        heading: str,
        sentence: str,
        buttons: tuple[QPushButton, ...] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._heading = WrappedLabel(theme, heading, WIDTH, "heading")
        self._sentence = WrappedLabel(theme, sentence, WIDTH, "muted")
        row = QHBoxLayout()
        row.setSpacing(SPACE_S)
        row.addStretch()
        for button in buttons:
            row.addWidget(button)
        row.addStretch()
        column = QVBoxLayout(self)
        column.setSpacing(SPACE_S)
        column.addStretch()
        column.addWidget(Emblem(theme, icon), 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(SPACE_M)
        column.addWidget(self._heading, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._sentence, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addSpacing(SPACE_L)
        column.addLayout(row)
        column.addStretch()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrow room wraps the words earlier."""
        super().resizeEvent(event)
        room = self.contentsRect().width()
        if (column := self.layout()) is not None:
            margins = column.contentsMargins()
            room -= margins.left() + margins.right()
        for label in (self._heading, self._sentence):
            label.set_room(room)

    def set_text(self, heading: str, sentence: str) -> None:
        """Say something else."""
        self._heading.setText(heading)
        self._sentence.setText(sentence)
