"""The buttons of a download."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.downloads.records import DownloadJob, JobState
from ui.notify import is_model
from ui.theme import SPACE_XS, Theme
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

GATED = ("hub-gated", "hub-not-accepted", "hub-forbidden", "hub-bad-token")
"""Codes of failures that the page of the repository is the way out of."""


class RowButtons(QWidget):
    """As many as make sense for the job's state.

    Attributes:
        pause_wanted, resume_wanted, cancel_wanted, retry_wanted, dismiss_wanted: With the job's id.
        load_wanted: With the path of the finished model.
        page_wanted: With the address of the repository's page.
        move_wanted: With the job's id and the number of places.
    """

    pause_wanted = Signal(int)
    resume_wanted = Signal(int)
    cancel_wanted = Signal(int)
    retry_wanted = Signal(int)
    dismiss_wanted = Signal(int)
    load_wanted = Signal(object)
    page_wanted = Signal(str)
    move_wanted = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job: DownloadJob | None = None
        self._up = self._icon(theme, "caret-up", self.tr("Earlier"), "earlierDownloadButton")
        self._down = self._icon(theme, "caret-down", self.tr("Later"), "laterDownloadButton")
        self._pause = self._text(theme, self.tr("Pause"), "pause", "pauseDownloadButton")
        self._resume = self._text(theme, self.tr("Resume"), "play", "retryDownloadButton", "primary")
        self._page = self._text(theme, self.tr("Open its page"), "arrow-square-out", "openDownloadPage")
        self._load = self._text(theme, self.tr("Load"), "play", "loadDownloadedButton", "primary")
        self._cancel = self._text(theme, self.tr("Cancel"), "x", "cancelDownloadButton")
        self._dismiss = self._text(theme, self.tr("Clear"), "check", "dismissDownloadButton")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_XS)
        for button in self.in_order:
            row.addWidget(button)
        self._connect()

    @property
    def in_order(self) -> tuple[QWidget, ...]:
        """All buttons from left to right."""
        others = (self._page, self._cancel, self._dismiss, self._pause, self._resume, self._load)
        return (self._up, self._down, *others)

    @staticmethod
    def _icon(theme: Theme, icon: str, text: str, name: str) -> IconButton:
        button = IconButton(theme, icon, text)
        button.setObjectName(name)
        return button

    @staticmethod
    def _text(theme: Theme, text: str, icon: str, name: str, role: str = "") -> TextButton:
        button = TextButton(theme, text, icon, role=role)
        button.setObjectName(name)
        return button

    def _connect(self) -> None:
        self._pause.clicked.connect(lambda: self.pause_wanted.emit(self._number))
        self._cancel.clicked.connect(lambda: self.cancel_wanted.emit(self._number))
        self._dismiss.clicked.connect(lambda: self.dismiss_wanted.emit(self._number))
        self._resume.clicked.connect(self._take_up)
        self._load.clicked.connect(self._load_it)
        self._page.clicked.connect(lambda: self.page_wanted.emit(self._job.page if self._job is not None else ""))
        self._up.clicked.connect(lambda: self.move_wanted.emit(self._number, -1))
        self._down.clicked.connect(lambda: self.move_wanted.emit(self._number, 1))

    @property
    def _number(self) -> int:
        return self._job.id if self._job is not None else 0

    def _load_it(self) -> None:
        if self._job is not None:
            self.load_wanted.emit(self._job.target)

    def show_job(self, job: DownloadJob, *, alone: bool) -> None:
        """Offer what makes sense; ``alone``: there is no order to change."""
        self._job = job
        done, stopped = job.state is JobState.DONE, job.state.resumable
        for button in (self._up, self._down):
            button.setVisible(not done and not alone)
        self._pause.setVisible(job.state.active)
        self._resume.setVisible(stopped)
        begun = job.done > 0 or job.state is JobState.PAUSED
        self._resume.setText(self.tr("Resume") if begun else self.tr("Try again"))
        gated = job.error is not None and job.error.code in GATED
        self._page.setVisible(gated and bool(job.page))
        self._cancel.setVisible(not done)
        self._cancel.setText(self.tr("Remove") if stopped else self.tr("Cancel"))
        self._cancel.setToolTip(self._end_words(job))
        self._load.setVisible(done and not job.repair and is_model(job.target.name))
        self._dismiss.setVisible(done)
        for named in (self._pause, self._resume, self._cancel, self._load, self._dismiss, self._page):
            named.setAccessibleName(f"{named.text()}: {job.target.name}")

    def _end_words(self, job: DownloadJob) -> str:
        if job.repair:
            return self.tr("Stop mending; the file stays as it is")
        return self.tr("Stop and delete what was downloaded so far")

    def press_main(self) -> None:
        """Pause, resume or load, whatever is offered."""
        for button in (self._pause, self._resume, self._load):
            if not button.isHidden():
                button.click()
                return

    def press_end(self) -> None:
        """Cancel, or clear what is done."""
        for button in (self._cancel, self._dismiss):
            if not button.isHidden():
                button.click()
                return

    def _take_up(self) -> None:
        if self._job is not None:
            failed = self._job.state is JobState.FAILED
            (self.retry_wanted if failed else self.resume_wanted).emit(self._job.id)
