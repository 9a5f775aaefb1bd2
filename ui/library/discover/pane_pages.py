"""The stacked pages inside a repository's pane: files or why there are none, the card or that there is none."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QStackedWidget, QTabWidget, QWidget

from engine.hub.records import RepoPage
from ui.library.discover.card_view import CardView
from ui.library.discover.files_view import FilesView
from ui.theme import SPACE_M, SPACE_S, Theme
from ui.widgets.empty_state import EmptyState

FILES, CARD = range(2)


class PanePages(QTabWidget):
    """Two tabs."""

    def __init__(self, files: FilesView, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("repoTabs")
        self.files, self.card = files, CardView(theme)
        self._shown = ""
        self._waiting = QLabel()
        self._waiting.setProperty("role", "muted")
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._waiting.setContentsMargins(SPACE_S, SPACE_M, 0, 0)
        self._nothing = EmptyState(
            theme, "files", self.tr("No GGUF files"), self.tr("Look for a repository with “GGUF” in its name.")
        )
        self._no_card = EmptyState(theme, "article", self.tr("No model card"), self.tr("Its owner has written none."))
        self._file_pages, self._card_pages = QStackedWidget(), QStackedWidget()
        for page in (files, self._nothing, self._waiting):
            self._file_pages.addWidget(page)
        for card in (self.card, self._no_card):
            self._card_pages.addWidget(card)
        self.addTab(self._file_pages, self.tr("Files"))
        self.addTab(self._card_pages, self.tr("Model card"))

    def show_files(self, count: int | None) -> None:
        """There are files; None: how many the repository has is not known yet."""
        self.setTabText(FILES, self.tr("Files") if count is None else self.tr("Files ({0})").format(count))
        self._file_pages.setCurrentWidget(self._nothing if count == 0 else self.files)

    def show_waiting(self, text: str) -> None:
        """Nothing is known yet; ``text``: what is waited for."""
        self.setTabText(FILES, self.tr("Files"))
        self._waiting.setText(text)
        self._file_pages.setCurrentWidget(self._waiting)

    def show_card(self, repo: str, page: RepoPage | None) -> None:
        """Show the card of ``page``, from its beginning when it is another one."""
        text = page.card if page is not None else ""
        name = f"{repo} {len(text)}"
        if name != self._shown:
            self._shown = name
            self.card.show_card(repo, text, cut=page is not None and page.card_cut)
        self._card_pages.setCurrentWidget(self._no_card if page is not None and not text else self.card)


def scrolled(whole: QWidget) -> QScrollArea:
    """``whole``, which scrolls where a window is too low for everything."""
    area = QScrollArea()
    whole.setProperty("role", "page")
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(whole)
    return area
