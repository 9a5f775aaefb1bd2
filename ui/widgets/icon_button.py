"""A square button that shows only an icon, and therefore always has a name."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from ui.theme import Theme
from ui.widgets.push_button import PushButton


class IconButton(PushButton):
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
        super().__init__(theme, icon, tint, 0, parent)
        self._shortcut = shortcut
        self.setProperty("role", role)
        self.set_name(name)

    def set_name(self, name: str) -> None:
        """Say what the button does now."""
        if not name.strip():
            raise ValueError("an icon button needs a name")
        self.setAccessibleName(name)
        self.setToolTip(f"{name} ({self._shortcut})" if self._shortcut else name)
