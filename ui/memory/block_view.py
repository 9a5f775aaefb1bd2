"""One block of the memory page: heading, figures, bar, legend, notes."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QVBoxLayout, QWidget

from ui.memory.bar_view import BarView
from ui.memory.blocks import Block, BlockKind
from ui.memory.legend_view import LegendView, entries
from ui.memory.page_words import DOT
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel

UNBROKEN = "\N{NO-BREAK SPACE}"
"""Lines of figures break between figures only."""


class BlockView(QWidget):
    """Follows one block.

    Attributes:
        told: The line for what is pointed at in the bar.
    """

    told = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title, self._facts = ElidedLabel(), QLabel()
        self._title.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self._facts.setTextFormat(Qt.TextFormat.PlainText)
        self._facts.setWordWrap(True)
        set_role(self._title, "heading")
        set_role(self._facts, "muted")
        self._facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.bar = BarView(theme)
        self.bar.told.connect(self.told)
        self.legend = LegendView(theme)
        self._notes = QLabel()
        self._notes.setTextFormat(Qt.TextFormat.PlainText)
        self._notes.setWordWrap(True)
        set_role(self._notes, "muted")
        head = QHBoxLayout()
        head.setSpacing(SPACE_M)
        head.addWidget(self._title)
        head.addWidget(self._facts, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addLayout(head)
        column.addWidget(self.bar)
        column.addWidget(self.legend)
        column.addWidget(self._notes)
        column.addSpacing(SPACE_S)

    def show_block(self, block: Block, full: int, cards: dict[str, str]) -> None:
        """Show ``block``; the whole width of a bar is ``full`` bytes."""
        _set_text(self._title, block.title)
        _set_text(self._facts, DOT.join(fact.replace(" ", UNBROKEN) for fact in block.facts))
        _set_text(self._notes, " ".join(block.notes))
        self._notes.setVisible(bool(block.notes))
        self.bar.setVisible(block.bar is not None)
        self.legend.setVisible(block.bar is not None and bool(block.bar.parts))
        if block.bar is not None:
            shared = block.kind is BlockKind.SHARED
            self.bar.show_bar(block.bar, full, block.title, cards, shared=shared)
            self.legend.show_entries(entries(block.bar.parts, cards))

    def text(self) -> str:
        """What the block says in words."""
        texts = (label.text() for label in (self._title, self._facts, self._notes))
        return "\n".join(text.replace(UNBROKEN, " ") for text in texts if text)


def _set_text(label: QLabel, text: str) -> None:
    """Only what changed is laid out and painted again."""
    if label.text() != text:
        label.setText(text)
