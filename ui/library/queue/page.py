"""Downloads: the queue in its order, the sum, the limits."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.downloads.records import DownloadJob, JobState
from ui.library import words
from ui.library.parts import Parts
from ui.library.question_bar import QuestionBar
from ui.library.queue.handle import DropMark
from ui.library.queue.limits import Limits
from ui.library.queue.row import STEPS, DownloadRow
from ui.theme import SPACE_M, SPACE_S, SPACE_XS
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton

WORTH_ASKING = 100 * 10**6
"""Bytes that are not thrown away without a question."""


class DownloadsPage(QWidget):
    """One `DownloadRow` for each job; rows stay while they change, so the focus does too.

    Attributes:
        load_requested: Path of a finished model.
        get_wanted: There is nothing yet: show where to get a model.
    """

    load_requested = Signal(object)
    get_wanted = Signal()

    def __init__(self, parts: Parts, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts, self._downloads, self._theme = parts, parts.downloads, parts.theme
        self._rows: dict[int, DownloadRow] = {}
        self._question = QuestionBar(parts.theme)
        self._limits = Limits(parts.settings, parts.theme)
        self._limits.hide()
        self._build_head()
        self._build_list()
        self._lay_out()
        parts.downloads.jobs_changed.connect(self._refresh)
        parts.settings.changed.connect(lambda _feature: self._refresh())
        self._refresh()

    # ---- building

    def _build_head(self) -> None:
        self._sum = ElidedLabel()
        self._sum.setObjectName("downloadsSum")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, STEPS)
        self._bar.setAccessibleName(self.tr("Progress of all downloads"))
        self._pause = self._button(self.tr("Pause all"), "pause", "pauseAllButton", self._downloads.pause_all)
        self._resume = self._button(self.tr("Resume all"), "play", "resumeAllButton", self._downloads.resume_all)
        self._clear = self._button(self.tr("Clear finished"), "check", "clearFinishedButton", self._clear_finished)
        self._fold = TextButton(self._theme, self.tr("Limits"), "sliders-horizontal", role="quiet")
        self._fold.setObjectName("limitsButton")
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._limits.setVisible)

    def _button(self, text: str, icon: str, name: str, run: Callable[[], None]) -> TextButton:
        button = TextButton(self._theme, text, icon, role="quiet")
        button.setObjectName(name)
        button.clicked.connect(lambda: run())
        return button

    def _build_list(self) -> None:
        self._inside = QWidget()
        self._inside.setProperty("role", "page")
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, SPACE_XS, 0)
        self._column.setSpacing(SPACE_M)
        self._column.addStretch()
        self._area = QScrollArea()
        self._area.setObjectName("downloadsList")
        self._area.setAccessibleName(self.tr("Downloads"))
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(self._inside)
        self._mark = DropMark(self._theme, self._inside)

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

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(SPACE_S)
        policy = self._bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._bar.setSizePolicy(policy)
        head.addWidget(self._bar, 1)
        for button in (self._pause, self._resume, self._clear, self._fold):
            head.addWidget(button)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._area)
        self._pages.addWidget(self._build_empty())
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, SPACE_M, 0, 0)
        outer.setSpacing(SPACE_M)
        top = QVBoxLayout()
        top.setSpacing(0)
        top.addWidget(self._sum)
        top.addLayout(head)
        outer.addLayout(top)
        outer.addWidget(self._limits)
        outer.addWidget(self._pages, 1)
        outer.addWidget(self._question)

    # ---- showing

    def focus(self) -> None:
        """Give the keyboard to the first download."""
        rows = self._ordered()
        (rows[0] if rows else self._fold).setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _refresh(self) -> None:
        jobs = self._downloads.jobs
        for number in [number for number in self._rows if number not in {job.id for job in jobs}]:
            self._drop(self._rows.pop(number))
        waiting = sum(job.state is not JobState.DONE for job in jobs)
        for place, job in enumerate(jobs):
            row = self._rows.get(job.id) or self._new_row(job)
            row.show_job(job, alone=waiting < 2)
            if self._column.indexOf(row) != place:
                self._column.removeWidget(row)
                self._column.insertWidget(place, row)
        self._order_tabs()
        self._pages.setCurrentIndex(0 if jobs else 1)
        self._show_sum()

    def _show_sum(self) -> None:
        summary, jobs = self._downloads.summary, self._downloads.jobs
        text = words.overall(summary)
        if self._downloads.offline:
            text = self.tr("Offline: nothing is downloaded until that is switched off under Limits.")
        elif not text and summary.stopped:
            text = self.tr("{0} stopped").format(summary.stopped)
        self._sum.setText(text)
        fraction = summary.fraction
        self._bar.setValue(round(STEPS * (fraction or 0.0)))
        self._bar.setVisible(fraction is not None)
        self._pause.setVisible(summary.active > 0)
        self._resume.setVisible(summary.stopped > 0)
        self._clear.setVisible(any(job.state is JobState.DONE for job in jobs))

    def _order_tabs(self) -> None:
        before: QWidget = self._fold
        for row in self._ordered():
            for widget in (row, *row.buttons.in_order):
                QWidget.setTabOrder(before, widget)
                before = widget

    def _ordered(self) -> list[DownloadRow]:
        return [self._rows[job.id] for job in self._downloads.jobs if job.id in self._rows]

    def _new_row(self, job: DownloadJob) -> DownloadRow:
        row = self._rows[job.id] = DownloadRow(job, self._theme)
        buttons, downloads = row.buttons, self._downloads
        buttons.pause_wanted.connect(downloads.pause)
        buttons.resume_wanted.connect(downloads.resume)
        buttons.retry_wanted.connect(downloads.retry)
        buttons.dismiss_wanted.connect(downloads.dismiss)
        buttons.cancel_wanted.connect(self._ask_cancel)
        buttons.load_wanted.connect(self.load_requested)
        buttons.page_wanted.connect(self._parts.outside.visit)
        row.move_wanted.connect(self._move)
        row.step_wanted.connect(self._step)
        row.handle.dragged.connect(lambda y: self._show_mark(self._gap_at(y)))
        row.handle.dropped.connect(lambda y, row=row: self._dropped(row, y))
        return row

    def _drop(self, row: DownloadRow) -> None:
        focused: QWidget | None = self.focusWidget()
        if focused is not None and (focused is row or row.isAncestorOf(focused)):
            self._fold.setFocus()
        self._column.removeWidget(row)
        row.hide()
        row.deleteLater()

    # ---- doing

    def _ask_cancel(self, number: int) -> None:
        job = next((job for job in self._downloads.jobs if job.id == number), None)
        if job is None or job.repair or job.done < WORTH_ASKING:
            self._downloads.cancel(number)
            return
        text = self.tr("Cancel {0}? What is here already, {1}, is deleted. Pause keeps it.")
        text = text.format(job.target.name, words.file_size(job.done))
        self._question.ask(text, self.tr("Cancel download"), lambda: self._downloads.cancel(number))

    def _clear_finished(self) -> None:
        for job in self._downloads.jobs:
            if job.state is JobState.DONE:
                self._downloads.dismiss(job.id)

    def _step(self, row: DownloadRow, steps: int) -> None:
        rows = self._ordered()
        place = rows.index(row) + steps
        if 0 <= place < len(rows):
            rows[place].setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._area.ensureWidgetVisible(rows[place])

    def _move(self, number: int, steps: int) -> None:
        places = [job.id for job in self._downloads.jobs]
        place = places.index(number) + steps
        if 0 <= place < len(places):
            self._downloads.move(number, place)

    # ---- dragging

    def _gap_at(self, y: int) -> int:
        """Number of the row that a dragged one would stand before; ``y`` on the screen."""
        rows = self._ordered()
        for place, row in enumerate(rows):
            if y < row.mapToGlobal(row.rect().center()).y():
                return place
        return len(rows)

    def _show_mark(self, gap: int) -> None:
        rows = self._ordered()
        at = rows[gap].y() - SPACE_M // 2 if gap < len(rows) else rows[-1].geometry().bottom() + SPACE_M // 2
        self._mark.setGeometry(QRect(0, at - 1, self._inside.width(), 3))
        self._mark.show()
        self._mark.raise_()

    def _dropped(self, row: DownloadRow, y: int) -> None:
        self._mark.hide()
        place, gap = self._ordered().index(row), self._gap_at(y)
        target = gap - 1 if gap > place else gap
        if target != place:
            self._downloads.move(row.job.id, target)
