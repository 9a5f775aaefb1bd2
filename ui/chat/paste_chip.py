"""A large pasted text, shown as a chip instead of being laid out in the box."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from engine.library.sizes import size_text
from ui.theme import ICON_SIZE, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import Emblem
from ui.widgets.icon_button import IconButton


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
        self._label = ElidedLabel(self._words(text))
        self._label.set_tooltip(text[:400] + ("…" if len(text) > 400 else ""))
        remove = IconButton(theme, "x", self.tr("Remove pasted text"))
        remove.clicked.connect(self.removed)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_S, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(Emblem(theme, "clipboard-text", size=ICON_SIZE))
        row.addWidget(self._label, 1)
        row.addWidget(remove)

    def _words(self, text: str) -> str:
        """How much text it is: lines, and bytes in UTF-8."""
        count = text.count("\n") + 1
        lines = self.tr("1 line") if count == 1 else self.tr("{count} lines").format(count=f"{count:,}")
        size = size_text(len(text.encode("utf-8", "replace")))
        return self.tr("Pasted text · {lines} · {size}").format(lines=lines, size=size)
