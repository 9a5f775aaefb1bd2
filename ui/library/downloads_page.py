"""All downloads, newest first."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QStackedLayout, QVBoxLayout, QWidget

from app.downloads.service import DownloadService
from ui.library.download_row import DownloadRow
from ui.theme import SPACE_M, SPACE_XS, Theme
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton


class DownloadsPage(QWidget):
    """One `DownloadRow` for each job; rows stay while they change, so the focus does too.

    Attributes:
        load_requested: Path of a finished model.
        get_wanted: There is nothing yet: show where to get a model.
    """

    load_requested = Signal(object)
    get_wanted = Signal()

    def __init__(self, downloads: DownloadService, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._downloads, self._theme = downloads, theme
        self._rows: dict[int, DownloadRow] = {}
        inside = QWidget()
        inside.setProperty("role", "page")
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, SPACE_XS, 0)
        self._column.setSpacing(SPACE_M)
        self._column.addStretch()
        self._area = QScrollArea()
        self._area.setObjectName("downloadsList")
        self._area.setAccessibleName(self.tr("Downloads"))
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(inside)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, SPACE_M, 0, 0)
        self._pages = QStackedLayout()
        outer.addLayout(self._pages)
        self._pages.addWidget(self._area)
        self._pages.addWidget(self._build_empty())
        downloads.jobs_changed.connect(self._refresh)
        self._refresh()

    def _build_empty(self) -> EmptyState:
        get = TextButton(self._theme, self.tr("Get a model"), "download-simple", role="primary")
        get.clicked.connect(self.get_wanted)
        return EmptyState(
            self._theme,
            "cloud-arrow-down",
            self.tr("No downloads"),
            self.tr("A download that is interrupted, by the network or by closing the program, goes on from there."),
            (get,),
        )

    def _refresh(self) -> None:
        jobs = self._downloads.jobs
        for number in [number for number in self._rows if number not in {job.id for job in jobs}]:
            row = self._rows.pop(number)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for job in jobs:
            if job.id in self._rows:
                self._rows[job.id].show_job(job)
            else:
                self._rows[job.id] = self._new_row(DownloadRow(job, self._theme))
        self._pages.setCurrentIndex(0 if jobs else 1)

    def _new_row(self, row: DownloadRow) -> DownloadRow:
        row.cancel_wanted.connect(self._downloads.cancel)
        row.retry_wanted.connect(self._downloads.retry)
        row.dismiss_wanted.connect(self._downloads.dismiss)
        row.load_wanted.connect(self.load_requested)
        self._column.insertWidget(0, row)
        return row
