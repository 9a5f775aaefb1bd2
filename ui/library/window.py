"""The models window: what there is to discover, what is here, what is on its way."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from app.downloads.records import JobState
from ui.library import words
from ui.library.discover.page import DiscoverPage
from ui.library.keep.page import LibraryPage
from ui.library.parts import Parts
from ui.library.queue.page import DownloadsPage
from ui.theme import SPACE_L, SPACE_S, SPACE_XS
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.first_size import fit_screen

DISCOVER, LIBRARY, DOWNLOADS = range(3)


class ModelManagerWindow(QWidget):
    """Three pages and a line with sums. Where it is no window (Game Mode), closing it goes back to the chat.

    Attributes:
        load_requested: Path of a model that should be loaded.
        options_requested: Path of a model whose load options should be chosen first.
        plan_requested: The same, with the options to begin with.
    """

    load_requested = Signal(object)
    options_requested = Signal(object)
    plan_requested = Signal(object, object)

    def __init__(self, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts, self._library, self._downloads = parts, parts.library, parts.downloads
        self.setObjectName("modelManager")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self.setWindowTitle(self.tr("Models – Vramble"))
        self.setMinimumSize(900, 560)
        fit_screen(self, 1240, 740)
        self._discover: DiscoverPage | None = None
        self._keep: LibraryPage | None = None
        self._queue: DownloadsPage | None = None
        self._holders: list[QVBoxLayout] = []
        self._lay_out()
        self._connect()
        self._add_shortcuts()
        self._undecided = True
        self._refresh()

    # ---- building

    def _lay_out(self) -> None:
        self._tabs = QTabWidget()
        self._tabs.setObjectName("managerTabs")
        self._tabs.setDocumentMode(True)
        for _page in (DISCOVER, LIBRARY, DOWNLOADS):
            holder = QWidget()
            self._holders.append(QVBoxLayout(holder))
            self._holders[-1].setContentsMargins(0, 0, 0, 0)
            self._tabs.addTab(holder, "")
        self._running, self._sums = ElidedLabel(), ElidedLabel()
        for label in (self._running, self._sums):
            label.setProperty("role", "muted")
        self._sums.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        foot = QHBoxLayout()
        foot.addWidget(self._running, 3)
        foot.addWidget(self._sums, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        column.setSpacing(SPACE_XS)
        column.addWidget(self._tabs, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        for signal in (self._library.models_changed, self._library.roots_changed, self._library.scanning_changed):
            signal.connect(self._refresh)
        self._downloads.jobs_changed.connect(self._refresh)
        self._tabs.currentChanged.connect(self._turned)

    def _add_shortcuts(self) -> None:
        for number in range(self._tabs.count()):
            self._shortcut(QKeySequence(f"Ctrl+{number + 1}"), lambda number=number: self._turn(number))
        self._shortcut(QKeySequence("Ctrl+PgDown"), lambda: self.turn(1))
        self._shortcut(QKeySequence("Ctrl+PgUp"), lambda: self.turn(-1))
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Refresh), self._look_again)
        self._shortcut(QKeySequence(QKeySequence.StandardKey.Close), self.close)

    def _shortcut(self, keys: QKeySequence, run: object) -> None:
        shortcut = QShortcut(keys, self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(run)

    def _show(self, number: int) -> None:
        """Turn to a page, made before: the keyboard goes over to it when the other one is hidden."""
        self._page(number)
        self._tabs.setCurrentIndex(number)

    # ---- pages, each made when it is wanted first

    @property
    def discover(self) -> DiscoverPage:
        """What there is to get."""
        if self._discover is None:
            page = self._discover = DiscoverPage(self._parts, self)
            self._put(page, DISCOVER)
            page.downloads_wanted.connect(self.show_downloads)
        return self._discover

    @property
    def library(self) -> LibraryPage:
        """What is here."""
        if self._keep is None:
            page = self._keep = LibraryPage(self._parts, self)
            self._put(page, LIBRARY)
            page.options_requested.connect(self.options_requested)
            page.plan_requested.connect(self.plan_requested)
            page.repo_wanted.connect(self.show_repo)
            page.deeds.started.connect(self.show_downloads)
            page.get_wanted.connect(self.show_get)
        return self._keep

    @property
    def queue(self) -> DownloadsPage:
        """What is on its way."""
        if self._queue is None:
            page = self._queue = DownloadsPage(self._parts, self)
            self._put(page, DOWNLOADS)
            page.get_wanted.connect(self.show_get)
        return self._queue

    def _put(self, page: DiscoverPage | LibraryPage | DownloadsPage, number: int) -> None:
        self._holders[number].addWidget(page)
        page.load_requested.connect(self.load_requested)

    def _page(self, number: int) -> DiscoverPage | LibraryPage | DownloadsPage:
        return self.discover if number == DISCOVER else self.library if number == LIBRARY else self.queue

    def show_get(self) -> None:
        """Show where models are found."""
        self._undecided = False
        self._show(DISCOVER)
        self.discover.focus()

    def show_downloads(self) -> None:
        """Show what is on its way."""
        self._show(DOWNLOADS)
        self.queue.focus()

    def show_repo(self, repo: str) -> None:
        """Show the page of a repository."""
        self._show(DISCOVER)
        self.discover.open_repo(repo)

    @property
    def shows_downloads(self) -> bool:
        """Whether the downloads are on the screen."""
        return self.isVisible() and not self.window().isMinimized() and self._tabs.currentIndex() == DOWNLOADS

    def present(self, *, get: bool = False) -> None:
        """Bring the window to the front; ``get``: where models are found."""
        if get:
            self.show_get()
        new = not self.isVisible()
        self.show()
        self.raise_()
        self.activateWindow()
        if (new or not self.isWindow()) and not get:
            self._turn(self._tabs.currentIndex())

    def turn(self, step: int) -> None:
        """Show the next page, or with -1 the one before."""
        self._turn((self._tabs.currentIndex() + step) % self._tabs.count())

    def _turn(self, number: int) -> None:
        self._show(number)
        self._page(number).focus()

    def _turned(self, number: int) -> None:
        self._undecided = False
        self._page(number)
        if number == LIBRARY:
            self.library.view.look_soon()

    def _look_again(self) -> None:
        if self._tabs.currentIndex() == DISCOVER:
            self.discover.look_again()
        else:
            self._library.rescan()

    # ---- events

    def setVisible(self, visible: bool) -> None:
        """The page that is seen is there before the window is."""
        if visible:
            self._page(self._tabs.currentIndex())
        super().setVisible(visible)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window, unless something in it had a use for it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Look at the folders again: files may have come or gone meanwhile."""
        super().showEvent(event)
        self._parts.hub.set_watched(True)
        if not event.spontaneous():
            self._library.rescan()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks for models any more."""
        super().hideEvent(event)
        if not event.spontaneous():
            self._parts.hub.set_watched(False)

    def _refresh(self, *_what: object) -> None:
        models = self._library.models + self._library.companions
        if self._undecided and not (self._library.scanning and not models):
            self._undecided = False
            self._show(LIBRARY if models else DISCOVER)
        pending = sum(job.state is not JobState.DONE for job in self._downloads.jobs)
        here, coming = self.tr("Library"), self.tr("Downloads")
        self._tabs.setTabText(DISCOVER, self.tr("Discover"))
        self._tabs.setTabText(LIBRARY, f"{here} {len(models)}" if models else here)
        self._tabs.setTabText(DOWNLOADS, f"{coming} {pending}" if pending else coming)
        used = sum(root.n_bytes for root in self._library.roots)
        looking = self._library.scanning and not models
        sums = self.tr("Models use {0}").format(words.file_size(used)) if used else ""
        self._sums.setText(self.tr("Looking for models…") if looking else sums)
        self._running.setText(words.overall(self._downloads.summary))
