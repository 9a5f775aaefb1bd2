"""Above the table of models: search, import, duplicates, updates."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.library.service import LibraryService
from engine.errors import VrambleError
from ui.library.clear_edit import ClearEdit
from ui.theme import SPACE_S, Theme
from ui.widgets.text_button import TextButton

SEARCH_WIDTH = 200
"""The search has at least so many pixels at scale 1 before buttons use fewer words."""


class Tools(QWidget):
    """One row.

    Attributes:
        words_changed: Other words are searched for.
        import_wanted: Files should be picked.
    """

    words_changed = Signal()
    import_wanted = Signal()

    def __init__(self, library: LibraryService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._library, self._theme = library, theme
        self._count, self._was_checking = 0, False
        self._search = ClearEdit(theme, self.tr("Search these models"))
        self._search.setObjectName("searchEdit")
        self._search.textChanged.connect(lambda _text: self.words_changed.emit())
        self._import = TextButton(theme, self.tr("Import…"), "file-plus", role="quiet")
        self._import.setObjectName("importButton")
        self._import.setToolTip(self.tr("Take GGUF files over from elsewhere; they can be dropped here too"))
        self._import.clicked.connect(self.import_wanted)
        self._twins = TextButton(theme, self.tr("Find duplicates"), "copy", role="quiet")
        self._twins.setObjectName("findDuplicatesButton")
        self._twins.clicked.connect(lambda: library.find_duplicates())
        self._check = TextButton(theme, "", "arrows-clockwise", role="quiet")
        self._check.setObjectName("checkUpdatesButton")
        self._check.clicked.connect(lambda: library.check_updates())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(self._search, 1)
        for button in (self._import, self._twins, self._check):
            row.addWidget(button)
        theme.changed.connect(lambda: QTimer.singleShot(0, self, self._show))
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._search.setFocus)
        self._show()

    @property
    def words(self) -> str:
        """What is searched for."""
        return self._search.text()

    def show_count(self, count: int) -> None:
        """So many models are here."""
        self._count = count
        self._show()

    def outcome(self) -> str | VrambleError:
        """What is to be told when a check for updates has just ended; empty: it has not."""
        ended = self._was_checking and not self._library.checking_updates
        self._was_checking = self._library.checking_updates
        self._show()
        if not ended:
            return ""
        problem = self._library.update_problem
        if problem is not None:
            return problem
        number = len(self._library.updates)
        if not number:
            return self.tr("Everything is up to date.")
        many = self.tr("{0} models have newer files.").format(number)
        return self.tr("1 model has a newer file.") if number == 1 else many

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fewer words where there is less room: the search keeps its own."""
        super().resizeEvent(event)
        self._show()

    def _show(self) -> None:
        checking = self._library.checking_updates
        self._check.setEnabled(self._count > 0 and not checking)
        self._twins.setEnabled(self._count > 1)
        long = (self.tr("Find duplicates"), self.tr("Check for updates"))
        short = (self.tr("Duplicates"), self.tr("Updates"))
        twins, check = long if self._has_room_for(long) else short
        self._twins.setText(twins)
        self._check.setText(self.tr("Checking…") if checking else check)
        for button, whole in zip((self._twins, self._check), long, strict=True):
            button.setAccessibleName(whole if button.text() in short else "")
            button.setToolTip(whole if button.text() in short else "")

    def _has_room_for(self, texts: tuple[str, str]) -> bool:
        """Whether the search has its width beside buttons with these texts, whatever they show now."""
        buttons = (self._twins, self._check)
        change = sum(
            button.fontMetrics().horizontalAdvance(text) - button.fontMetrics().horizontalAdvance(button.text())
            for button, text in zip(buttons, texts, strict=True)
        )
        taken = sum(button.sizeHint().width() + SPACE_S for button in (self._import, *buttons))
        return taken + change + self._theme.px(SEARCH_WIDTH) <= self.width()
