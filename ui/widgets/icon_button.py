"""A square button that shows only an icon, and therefore always has a name."""

from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QWidget

from ui.theme import Theme


class IconButton(QPushButton):
    """40 px target, 36 px visible. The name is tooltip and accessible name; an empty one is refused.

    Args:
        icon: Phosphor icon name.
        name: What pressing it does, in the imperative: "Copy answer".
        shortcut: Shown behind the name in the tooltip only; the owner sets it up.
    """

    def __init__(
        self,
        theme: Theme,
        icon: str,
        name: str,
        parent: QWidget | None = None,
        *,
        tint: str = "text",
        role: str = "icon",
        shortcut: str = "",
    ) -> None:
        super().__init__(parent)
        self._theme, self._icon_name, self._tint, self._shortcut = theme, icon, tint, shortcut
        self.setProperty("role", role)
        self.setAutoDefault(False)
        self.set_name(name)
        self._paint_icon()
        theme.changed.connect(self._paint_icon)

    def set_name(self, name: str) -> None:
        """Say what the button does now."""
        if not name.strip():
            raise ValueError("an icon button needs a name")
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({self._shortcut})" if self._shortcut else name)

    def set_icon(self, icon: str, tint: str | None = None) -> None:
        """Show another icon, and another tint when given."""
        self._icon_name, self._tint = icon, tint or self._tint
        self._paint_icon()

    def _paint_icon(self) -> None:
        icon = self._theme.icon(self._icon_name, self._tint)
        self.setIcon(icon)
        self.setIconSize(icon.availableSizes()[0])
