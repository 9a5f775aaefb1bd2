"""A page of the settings: a title and sections in a column that scrolls."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from ui.settings.row import plain_label
from ui.settings.section import Section
from ui.theme import SPACE_L, SPACE_S, SPACE_XS, Theme

WIDTH = 760


class SettingsPage(QScrollArea):
    """Base of all pages. Subclasses add sections and other widgets.

    Attributes:
        title: What the page is called, here and in the list of pages.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme, self.title = theme, ""
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._sections: list[Section] = []
        inside = QWidget()
        inside.setProperty("role", "page")
        self._content = QWidget()
        self._column = QVBoxLayout(self._content)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(SPACE_L + SPACE_S)
        self._build_head()
        self._build_frame(inside)
        theme.changed.connect(self._limit)
        self._limit()

    def _build_head(self) -> None:
        self._head, self._beside = QBoxLayout(QBoxLayout.Direction.LeftToRight), QHBoxLayout()
        for line in (self._head, self._beside):
            line.setSpacing(SPACE_S)
        names = QVBoxLayout()
        names.setSpacing(SPACE_XS)
        self._title = plain_label("", "title")
        names.addWidget(self._title)
        self._intro = plain_label("", "muted")
        self._intro.hide()
        names.addWidget(self._intro)
        self._head.addLayout(names, 1)
        self._head.addLayout(self._beside)
        self._column.addLayout(self._head)

    def _build_frame(self, inside: QWidget) -> None:
        """The column at the left of what scrolls."""
        frame = QVBoxLayout(inside)
        frame.setContentsMargins(SPACE_L + SPACE_S, SPACE_L, SPACE_L, SPACE_L + SPACE_S)
        row = QHBoxLayout()
        row.addWidget(self._content, 1000)
        row.addStretch(1)
        frame.addLayout(row)
        frame.addStretch(1)
        self.setWidget(inside)

    def section(self, title: str = "", text: str = "", *, folded: bool = False) -> Section:
        """A new section at the end."""
        section = Section(self.theme, title, text, folded=folded)
        self._sections.append(section)
        self._column.addWidget(section)
        return section

    def add_to_head(self, widget: QWidget) -> None:
        """Put a button beside the title."""
        self._beside.addWidget(widget, 0, Qt.AlignmentFlag.AlignTop)

    def add(self, widget: QWidget) -> None:
        """Put something that is no section at the end."""
        self._column.addWidget(widget)

    def set_title(self, title: str, text: str = "") -> None:
        """Name the page; ``text`` says in one sentence what it is about."""
        self.title = title
        self._title.setText(title)
        self.set_intro(text)

    def set_intro(self, text: str) -> None:
        """Say something else below the title."""
        self._intro.setText(text)
        self._intro.setVisible(bool(text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Buttons go below a title that they leave no room to."""
        super().resizeEvent(event)
        title = self._title.fontMetrics().horizontalAdvance(self.title)
        wide = self.viewport().width() - 3 * SPACE_L >= title + SPACE_S + self._beside.minimumSize().width()
        self._head.setDirection(QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom)

    def search(self, words: Sequence[str]) -> int:
        """Show only what has all ``words``; how many settings that are."""
        return sum(section.search(words) for section in self._sections)

    def opened(self) -> None:
        """The user looks at the page now."""

    def _limit(self) -> None:
        self._content.setMaximumWidth(self.theme.px(WIDTH))
