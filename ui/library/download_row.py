"""One download: name, bar, what happens, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.downloads.service import DownloadJob, JobState
from ui.library import words
from ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.text_button import TextButton

STEPS = 1000


class DownloadRow(QFrame):
    """Shows a `DownloadJob`.

    Attributes:
        cancel_wanted, retry_wanted, dismiss_wanted: With the job's id.
        load_wanted: With the path of the finished model.
    """

    cancel_wanted = Signal(int)
    retry_wanted = Signal(int)
    dismiss_wanted = Signal(int)
    load_wanted = Signal(object)

    def __init__(self, job: DownloadJob, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job, self._theme = job, theme
        self.setProperty("role", "card")
        self._name = ElidedLabel()
        self._name.setProperty("role", "heading")
        self._repo = ElidedLabel()
        self._repo.setProperty("role", "muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, STEPS)
        self._line = ElidedLabel()
        self._line.setObjectName("downloadLine")
        self._problem = QLabel()
        self._problem.setObjectName("downloadProblem")
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._problem.setWordWrap(True)
        self._build_buttons()
        self._lay_out()
        self.show_job(job)

    def _build_buttons(self) -> None:
        self._retry = TextButton(self._theme, self.tr("Try again"), "arrow-clockwise", role="primary")
        self._retry.setObjectName("retryDownloadButton")
        self._load = TextButton(self._theme, self.tr("Load"), "play", role="primary")
        self._load.setObjectName("loadDownloadedButton")
        self._cancel = TextButton(self._theme, self.tr("Cancel"), "x")
        self._cancel.setObjectName("cancelDownloadButton")
        self._dismiss = TextButton(self._theme, self.tr("Clear"), "check")
        self._dismiss.setObjectName("dismissDownloadButton")
        self._retry.clicked.connect(lambda: self.retry_wanted.emit(self._job.id))
        self._cancel.clicked.connect(lambda: self.cancel_wanted.emit(self._job.id))
        self._dismiss.clicked.connect(lambda: self.dismiss_wanted.emit(self._job.id))
        self._load.clicked.connect(lambda: self.load_wanted.emit(self._job.target))

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(SPACE_XS)
        texts.addWidget(self._name)
        texts.addWidget(self._repo)
        top = QHBoxLayout()
        top.setSpacing(SPACE_S)
        top.addLayout(texts, 1)
        for button in (self._cancel, self._dismiss, self._retry, self._load):
            top.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_M, SPACE_M, SPACE_M)
        column.setSpacing(SPACE_S)
        column.addLayout(top)
        column.addWidget(self._bar)
        column.addWidget(self._line)
        column.addWidget(self._problem)

    def show_job(self, job: DownloadJob) -> None:
        """Follow the job."""
        self._job = job
        self._name.setText(job.target.name)
        parts = self.tr("{0} · {1} parts").format(job.repo, job.n_files)
        self._repo.setText(parts if job.n_files > 1 else job.repo)
        self._show_bar(job)
        self._line.setText(words.job_line(job))
        problem = self._sentence(job)
        set_role(self._problem, "bad" if job.error else "muted")
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self._problem.setToolTip("")
        self._show_buttons(job)

    def _show_bar(self, job: DownloadJob) -> None:
        known = job.total is not None and job.total > 0
        busy = not known and job.state.active
        self._bar.setRange(0, 0 if busy else STEPS)
        if known and job.total:
            self._bar.setValue(min(STEPS, job.done * STEPS // job.total))
        elif not busy:
            self._bar.setValue(STEPS if job.state is JobState.DONE else 0)
        self._bar.setVisible(job.state is not JobState.DONE)
        name = self.tr("Progress of {0}").format(job.target.name)
        self._bar.setAccessibleName(name)

    @staticmethod
    def _sentence(job: DownloadJob) -> str:
        if job.error is not None:
            return f"{job.error.message} {job.error.next_step}".strip()
        return "" if job.state is JobState.WAITING else job.note

    def _show_buttons(self, job: DownloadJob) -> None:
        stopped = job.state in (JobState.FAILED, JobState.INTERRUPTED)
        done = job.state is JobState.DONE
        self._retry.setVisible(stopped)
        resume = job.done > 0
        self._retry.setText(self.tr("Resume") if resume else self.tr("Try again"))
        self._cancel.setVisible(not done)
        self._cancel.setText(self.tr("Remove") if stopped else self.tr("Cancel"))
        tip = self.tr("Stop and delete what was downloaded so far")
        self._cancel.setToolTip(tip)
        self._load.setVisible(done)
        self._dismiss.setVisible(done)
        for button in (self._retry, self._cancel, self._load, self._dismiss):
            button.setAccessibleName(f"{button.text()}: {job.target.name}")
