"""One download: name, bar, what happens, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.downloads.records import DownloadJob, JobState
from ui.library import words
from ui.library.queue.handle import Handle
from ui.library.queue.row_buttons import RowButtons
from ui.theme import RADIUS_CARD, SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.notice_card import Sentence

STEPS = 1000
RING = 2


class DownloadRow(QFrame):
    """Shows a `DownloadJob`. Space pauses and resumes, Delete cancels, Ctrl+Shift+Up and Down change the order.

    Attributes:
        buttons: What can be done; it tells what is wanted.
        handle: Drags the row.
        step_wanted: -1: the row above should get the keyboard, +1: the one below.
        move_wanted: The job's id, and by how many places it should be moved.
    """

    step_wanted = Signal(object, int)
    move_wanted = Signal(int, int)

    def __init__(self, job: DownloadJob, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job, self._theme, self._ringed = job, theme, False
        self.setObjectName(f"download-{job.id}")
        self.setProperty("role", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.handle = Handle(theme)
        self._name, self._repo, self._line = ElidedLabel(), ElidedLabel(), ElidedLabel()
        self._name.setProperty("role", "heading")
        self._repo.setProperty("role", "muted")
        self._line.setObjectName("downloadLine")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, STEPS)
        self._problem = Sentence("")
        self._problem.setObjectName("downloadProblem")
        self._problem.setMinimumWidth(1)
        self._problem.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons = RowButtons(theme)
        self.buttons.move_wanted.connect(self.move_wanted)
        self._lay_out()
        self.show_job(job)

    def _lay_out(self) -> None:
        texts = QVBoxLayout()
        texts.setSpacing(SPACE_XS // 2)
        texts.addWidget(self._name)
        texts.addWidget(self._repo)
        top = QHBoxLayout()
        top.setSpacing(SPACE_S)
        top.addLayout(texts, 1)
        top.addWidget(self.buttons, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout()
        column.setSpacing(SPACE_S)
        column.addLayout(top)
        column.addWidget(self._bar)
        column.addWidget(self._line)
        column.addWidget(self._problem)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_XS, SPACE_M, SPACE_M, SPACE_M)
        row.setSpacing(SPACE_XS)
        row.addWidget(self.handle)
        row.addLayout(column, 1)

    @property
    def job(self) -> DownloadJob:
        """What is shown."""
        return self._job

    def show_job(self, job: DownloadJob, *, alone: bool = True) -> None:
        """Follow the job; ``alone``: there is no order to change."""
        self._job = job
        self._name.setText(job.target.name)
        kind = self.tr("Repair of a file of {0}") if job.repair else "{0}"
        text = self.tr("{0} · {1} parts").format(job.repo, job.n_files) if job.n_files > 1 else job.repo
        self._repo.setText(kind.format(text))
        self._show_bar(job)
        self._line.setText(words.job_line(job))
        problem = self._sentence(job)
        set_role(self._problem, "bad" if job.error else "muted")
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        self.handle.setVisible(not alone and job.state is not JobState.DONE)
        self.buttons.show_job(job, alone=alone)
        self.setAccessibleName(f"{job.target.name}, {self._line.text()}")

    def _show_bar(self, job: DownloadJob) -> None:
        known = job.total is not None and job.total > 0
        busy = not known and job.state.active and job.state is not JobState.QUEUED
        self._bar.setRange(0, 0 if busy else STEPS)
        if known and job.total:
            self._bar.setValue(min(STEPS, job.done * STEPS // job.total))
        elif not busy:
            self._bar.setValue(STEPS if job.state is JobState.DONE else 0)
        self._bar.setVisible(job.state is not JobState.DONE)
        self._bar.setAccessibleName(self.tr("Progress of {0}").format(job.target.name))

    @staticmethod
    def _sentence(job: DownloadJob) -> str:
        if job.error is not None:
            return f"{job.error.message} {job.error.next_step}".strip()
        return "" if job.state is JobState.WAITING else job.note

    # ---- keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the class."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
        if steps is not None and event.modifiers() & both == both:
            self.move_wanted.emit(self._job.id, steps)
        elif steps is not None:
            self.step_wanted.emit(self, steps)
        elif event.key() == Qt.Key.Key_Space or event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.buttons.press_main()
        elif event.key() == Qt.Key.Key_Delete:
            self.buttons.press_end()
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """A ring when the keyboard brought the focus."""
        super().focusInEvent(event)
        self._ringed = event.reason() is not Qt.FocusReason.MouseFocusReason
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The ring goes."""
        super().focusOutEvent(event)
        self._ringed = False
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The card, and the ring."""
        super().paintEvent(event)
        if self._ringed and self.hasFocus():
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self._theme.tokens.focus), RING))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS_CARD, RADIUS_CARD)
