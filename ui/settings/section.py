"""A heading and a card of rows; a section for those who know can be folded."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QSizePolicy, QVBoxLayout, QWidget

from ui.settings.row import Row, matches, plain_label
from ui.theme import SPACE_S, SPACE_XS, Theme
from ui.widgets.text_button import TextButton


class Section(QWidget):
    """Rows in one card with lines between them.

    Args:
        title: Its heading; "" none.
        text: A muted sentence below the heading.
        folded: It begins folded, and the heading is the button that opens it.
    """

    def __init__(
        self, theme: Theme, title: str = "", text: str = "", *, folded: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._entries: list[tuple[QWidget, str]] = []
        self._unwanted: set[QWidget] = set()
        self._lines: list[QFrame] = []
        self._searched: tuple[str, ...] = ()
        self._title = title
        self._fold: TextButton | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_S)
        if folded:
            column.addWidget(self._build_fold(theme, title))
        elif title:
            column.addWidget(plain_label(title, "heading"))
        self._sentence = plain_label(text, "muted")
        column.addWidget(self._sentence)
        self._sentence.setVisible(bool(text))
        self._card = QFrame()
        self._card.setProperty("role", "card")
        self._inside = QVBoxLayout(self._card)
        self._inside.setContentsMargins(1, SPACE_XS, 1, SPACE_XS)
        self._inside.setSpacing(0)
        column.addWidget(self._card)
        self._arrange()

    def _build_fold(self, theme: Theme, title: str) -> TextButton:
        self._fold = fold = TextButton(theme, title, "caret-right", role="fold")
        fold.setCheckable(True)
        fold.setSizePolicy(QSizePolicy.Policy.Maximum, fold.sizePolicy().verticalPolicy())
        fold.toggled.connect(self._arrange)
        return fold

    @property
    def fold(self) -> TextButton | None:
        """The button that opens it, if it can be folded."""
        return self._fold

    @property
    def rows(self) -> tuple[QWidget, ...]:
        """What it holds, in order."""
        return tuple(widget for widget, _ in self._entries)

    def set_text(self, text: str) -> None:
        """Say something else below the heading."""
        self._sentence.setText(text)
        self._sentence.setVisible(bool(text))

    def add(self, widget: QWidget, words: str = "") -> None:
        """Put ``widget`` at the end; ``words`` are what a search finds it by, for a `Row` besides its own."""
        if self._entries:
            line = QFrame()
            line.setProperty("role", "hairline")
            self._lines.append(line)
            self._inside.addWidget(line)
        self._entries.append((widget, words))
        self._inside.addWidget(widget)
        self._arrange()

    def clear(self) -> None:
        """Take everything out."""
        for widget in [*self.rows, *self._lines]:
            self._inside.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._entries, self._lines, self._unwanted = [], [], set()
        self._arrange()

    def set_wanted(self, widget: QWidget, wanted: bool) -> None:
        """Whether ``widget`` has something to say now, whatever is searched for."""
        (self._unwanted.discard if wanted else self._unwanted.add)(widget)
        self._arrange()

    def search(self, words: Sequence[str]) -> int:
        """Show only what has all ``words`` (everything for none); how many entries that are."""
        self._searched = tuple(words)
        return self._arrange()

    def _arrange(self) -> int:
        opened = self._fold is None or self._fold.isChecked() or bool(self._searched)
        if self._fold is not None:
            self._fold.set_icon("caret-down" if opened else "caret-right")
        count = 0
        for index, (widget, words) in enumerate(self._entries):
            shown = widget not in self._unwanted and self._found(widget, words)
            widget.setVisible(shown)
            if index:
                self._lines[index - 1].setVisible(shown and count > 0)
            count += shown
        self._card.setVisible(opened and count > 0)
        self.setVisible(count > 0)
        return count

    def _found(self, widget: QWidget, words: str) -> bool:
        own = widget.words if isinstance(widget, Row) else ""
        return matches(f"{self._title} {own} {words}", self._searched)
