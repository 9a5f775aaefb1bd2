"""Above the table of models: search, import, duplicates, updates."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.library.service import LibraryService
from engine.errors import VrambleError
from ui.library.clear_edit import ClearEdit
from ui.theme import SPACE_S, Theme
from ui.widgets.text_button import TextButton


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
        self._library = library
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

    def _show(self) -> None:
        checking = self._library.checking_updates
        self._check.setEnabled(self._count > 0 and not checking)
        self._check.setText(self.tr("Checking…") if checking else self.tr("Check for updates"))
        self._twins.setEnabled(self._count > 1)
