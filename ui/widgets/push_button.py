"""The base of all buttons here: Enter presses the one that has the focus, also outside dialogs."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QWidget

from ui.theme import Theme


class PushButton(QPushButton):
    """A button whose icon follows the theme. It is never a dialog's default by itself."""

    def __init__(self, theme: Theme, icon: str, tint: str, gap: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._icon_name, self._tint, self._gap = theme, icon, tint, gap
        self._measuring = False
        self.setAutoDefault(False)
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def set_icon(self, icon: str, tint: str | None = None) -> None:
        """Show another icon ("" none), and another tint when given."""
        self._icon_name, self._tint = icon, tint or self._tint
        self._paint_icon()

    def sizeHint(self) -> QSize:
        """The same with and without the focus, whose ring takes the padding of a filled button."""
        self._measuring = True
        hint = super().sizeHint()
        self._measuring = False
        return hint

    def initStyleOption(self, option: QStyleOptionButton) -> None:
        """Leave the focus out while the size is asked for."""
        super().initStyleOption(option)
        if self._measuring:
            option.state &= ~QStyle.StateFlag.State_HasFocus

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter clicks, as Space does."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat():
            self.click()
        else:
            super().keyPressEvent(event)

    def _paint_icon(self) -> None:
        if not self._icon_name:
            self.setIcon(QIcon())
            return
        icon = self._theme.icon(self._icon_name, self._tint, gap=self._gap)
        self.setIcon(icon)
        self.setIconSize(icon.availableSizes()[0])
