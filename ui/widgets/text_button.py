"""A push button with an icon that follows the theme."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QPushButton, QWidget

from ui.theme import Theme

GAP = 4
TINTS = {"primary": "on_accent", "danger": "on_bad"}


class TextButton(QPushButton):
    """Text, and optionally an icon, in one of the button roles of the stylesheet."""

    def __init__(
        self, theme: Theme, text: str, icon: str = "", parent: QWidget | None = None, *, role: str = ""
    ) -> None:
        super().__init__(text, parent)
        self._theme, self._icon_name = theme, icon
        self._tint = TINTS.get(role, "text")
        self.setAutoDefault(False)
        if role:
            self.setProperty("role", role)
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def set_icon(self, icon: str, tint: str | None = None) -> None:
        """Show another icon ("" none), and another tint when given."""
        self._icon_name, self._tint = icon, tint or self._tint
        self._paint_icon()

    def _paint_icon(self) -> None:
        if not self._icon_name:
            self.setIcon(QIcon())
        else:
            icon = self._theme.icon(self._icon_name, self._tint, gap=GAP)
            self.setIcon(icon)
            self.setIconSize(icon.availableSizes()[0])
