"""The search field of Discover with its order and filters."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from engine.hub.records import SearchQuery, Sort
from ui.library.clear_edit import ClearEdit
from ui.library.discover import words
from ui.library.discover.filters import Filters
from ui.settings.controls import Choice
from ui.theme import SPACE_S, Theme
from ui.widgets.text_button import TextButton

SORT_WIDTH = 172


class SearchEdit(ClearEdit):
    """Down goes to what was found.

    Attributes:
        left: Down was pressed.
    """

    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        if event.key() == Qt.Key.Key_Down:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class QueryBar(QWidget):
    """What is searched for.

    Attributes:
        changed: `query` is another one; the argument says whether it should be asked at once.
        entered: Enter was pressed in the field.
        left: The keyboard should go to what was found.
    """

    changed = Signal(bool)
    entered = Signal()
    left = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._browsing = False
        hint = self.tr("Search models, or paste the address of a repository")
        self.edit = SearchEdit(theme, self.tr("Search models on the Hub"), hint)
        self.edit.setObjectName("discoverSearch")
        self.edit.textChanged.connect(self._text_changed)
        self.edit.returnPressed.connect(self.entered)
        self.edit.left.connect(self.left)
        self._sort = Choice(theme, self.tr("Order"), [(one, words.sort(one)) for one in Sort], width=SORT_WIDTH)
        self._sort.setObjectName("sortChoice")
        self._sort.show_value(Sort.DOWNLOADS)
        self._sort.chosen.connect(lambda _value: self.browse())
        self._fold = TextButton(theme, "", "funnel", role="quiet")
        self._fold.setObjectName("filtersButton")
        self._fold.setCheckable(True)
        self._clear = TextButton(theme, self.tr("Clear"), "x", role="quiet")
        self._clear.setObjectName("clearFiltersButton")
        self._clear.setAccessibleName(self.tr("Clear filters"))
        self.filters = Filters(theme)
        self.filters.hide()
        self._fold.toggled.connect(self.filters.setVisible)
        self._clear.clicked.connect(self.clear_filters)
        self.filters.changed.connect(self._filters_changed)
        self._lay_out()
        self._show_filters()

    @property
    def query(self) -> SearchQuery:
        """What is searched for."""
        text = " ".join(self.edit.text().split())
        return self.filters.narrow(SearchQuery(text=text, sort=self._sort.value))

    @property
    def idle(self) -> bool:
        """Nothing is searched for."""
        return not (self._browsing or self.edit.text().strip() or self.filters.in_use)

    def browse(self) -> None:
        """Show what the Hub has in the chosen order, also without words to search for."""
        self._browsing = True
        self.changed.emit(True)

    def clear_filters(self) -> None:
        """Narrow down by nothing."""
        self.filters.clear()
        self._filters_changed()

    def clear(self) -> None:
        """Search for nothing."""
        self._browsing = False
        self.filters.clear()
        self._show_filters()
        if self.edit.text():
            self.edit.clear()
        else:
            self.changed.emit(True)

    def focus(self) -> None:
        """Give the keyboard to the field."""
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.edit.selectAll()

    def _text_changed(self, text: str) -> None:
        if not text:
            self._browsing = False
        self.changed.emit(not text)

    def _filters_changed(self) -> None:
        self._show_filters()
        self.changed.emit(True)

    def _show_filters(self) -> None:
        number = self.filters.in_use
        self._fold.setText(self.tr("Filters ({0})").format(number) if number else self.tr("Filters"))
        self._clear.setVisible(bool(number))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(SPACE_S)
        row.addWidget(self.edit, 1)
        row.addWidget(self._sort)
        row.addWidget(self._fold)
        row.addWidget(self._clear)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_S)
        column.addLayout(row)
        column.addWidget(self.filters)
