"""A large pasted text, shown as a chip instead of being laid out in the box."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from ui.theme import ICON_SIZE, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import Emblem
from ui.widgets.icon_button import IconButton


def size_text(text: str) -> str:
    """How much text it is: lines and kB (10^3 bytes, UTF-8)."""
    size = len(text.encode("utf-8", "replace"))
    lines = text.count("\n") + 1
    amount = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(1, round(size / 1e3))} kB"
    return f"{lines:,} {'line' if lines == 1 else 'lines'} · {amount}"


class PasteChip(QFrame):
    """One pasted text.

    Attributes:
        removed: The user took it out of the message.
    """

    removed = Signal()

    def __init__(self, text: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = text
        self.setProperty("role", "chip")
        self._label = ElidedLabel(self.tr("Pasted text · {size}").format(size=size_text(text)))
        self._label.set_tooltip(text[:400] + ("…" if len(text) > 400 else ""))
        remove = IconButton(theme, "x", self.tr("Remove pasted text"))
        remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_S, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(Emblem(theme, "clipboard-text", size=ICON_SIZE))
        row.addWidget(self._label, 1)
        row.addWidget(remove)
