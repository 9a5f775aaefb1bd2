"""The model manager: its own window with what is installed, what can be got, what is on its way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QTabWidget, QVBoxLayout, QWidget

from app.downloads.service import DownloadService, JobState
from app.fit.badges import FitBadges
from app.library.service import LibraryService
from app.worker.service import WorkerService
from ui.library import words
from ui.library.downloads_page import DownloadsPage
from ui.library.get_page import GetPage
from ui.library.installed_page import InstalledPage
from ui.theme import SPACE_L, SPACE_S, Theme
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.first_size import fit_screen

INSTALLED, GET, DOWNLOADS = range(3)


def open_folder(folder: Path) -> None:
    """Show ``folder`` in the desktop's file manager."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))


class ModelManagerWindow(QWidget):
    """Three pages and a line with sums.

    Attributes:
        load_requested: Path of a model that should be loaded.
        options_requested: Path of a model whose load options should be chosen first.
        plan_requested: The same, with the options to begin with.
    """

    load_requested = Signal(object)
    options_requested = Signal(object)
    plan_requested = Signal(object, object)

    def __init__(
        self,
        library: LibraryService,
        downloads: DownloadService,
        worker: WorkerService,
        theme: Theme,
        *,
        opener: Callable[[Path], None] = open_folder,
        badges: FitBadges | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._library, self._downloads = library, downloads
        self.setObjectName("modelManager")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setProperty("role", "background")
        self.setWindowTitle(self.tr("Models – Vramble"))
        self.setMinimumSize(900, 560)
        fit_screen(self, 1180, 740)
        self._installed = InstalledPage(library, worker, theme, opener, badges)
        self._get = GetPage(downloads, library, theme, badges)
        self._active = DownloadsPage(downloads, theme)
        self._tabs = QTabWidget()
        self._tabs.setObjectName("managerTabs")
        for page in (self._installed, self._get, self._active):
            self._tabs.addTab(page, "")
        self._sums = ElidedLabel()
        self._sums.setProperty("role", "muted")
        self._running = ElidedLabel()
        self._running.setProperty("role", "muted")
        self._lay_out()
        self._connect()
        self._refresh()
        if not library.models and not library.scanning:
            self._tabs.setCurrentIndex(GET)

    def _lay_out(self) -> None:
        foot = QHBoxLayout()
        foot.addWidget(self._running, 1)
        foot.addWidget(self._sums)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        column.setSpacing(SPACE_S)
        column.addWidget(self._tabs, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self._library.models_changed.connect(self._refresh)
        self._library.scanning_changed.connect(self._refresh)
        self._downloads.jobs_changed.connect(self._refresh)
        self._installed.load_requested.connect(self.load_requested)
        self._installed.options_requested.connect(self.options_requested)
        self._installed.plan_requested.connect(self.plan_requested)
        self._active.load_requested.connect(self.load_requested)
        for page in (self._installed, self._active):
            page.get_wanted.connect(self.show_get)
        self._get.started.connect(lambda _job: self._tabs.setCurrentIndex(DOWNLOADS))
        for number in range(self._tabs.count()):
            jump = QShortcut(QKeySequence(f"Ctrl+{number + 1}"), self)
            jump.activated.connect(lambda number=number: self._tabs.setCurrentIndex(number))
        refresh = QShortcut(QKeySequence(QKeySequence.StandardKey.Refresh), self)
        refresh.activated.connect(self._library.rescan)
        close = QShortcut(QKeySequence(QKeySequence.StandardKey.Close), self)
        close.activated.connect(self.close)

    def show_get(self) -> None:
        """Show where models are fetched."""
        self._tabs.setCurrentIndex(GET)
        self._get.focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the window, unless something in it had a use for it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Look at the folder again: files may have come or gone meanwhile."""
        super().showEvent(event)
        if not event.spontaneous():
            self._library.rescan()

    def _refresh(self) -> None:
        models = self._library.models + self._library.companions
        jobs = self._downloads.jobs
        pending = sum(job.state is not JobState.DONE for job in jobs)
        installed, active = self.tr("Installed"), self.tr("Downloads")
        self._tabs.setTabText(INSTALLED, f"{installed} {len(models)}" if models else installed)
        self._tabs.setTabText(GET, self.tr("Get models"))
        self._tabs.setTabText(DOWNLOADS, f"{active} {pending}" if pending else active)
        total = sum(model.size_bytes for model in models)
        scanning = self._library.scanning and not models
        sums = self.tr("Models use {0}").format(words.file_size(total)) if models else ""
        self._sums.setText(self.tr("Looking for models…") if scanning else sums)
        self._running.setText(words.overall(jobs))
