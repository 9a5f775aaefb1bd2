"""The diagnosis: what keeps models from running well here, and what to do about it."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.doctor.service import DoctorService
from app.doctor.text import diagnosis_summary, markdown
from app.doctor.watched import STEPS, Step
from engine.doctor.records import Check, Diagnosis, Status
from engine.version import program_version
from ui.settings.check_row import CheckRow
from ui.settings.controls import Switch
from ui.settings.page import SettingsPage
from ui.settings.row import Row, plain_label
from ui.theme import SPACE_S, Theme
from ui.widgets.late import LateVisibility
from ui.widgets.text_button import TextButton


class DoctorPage(SettingsPage):
    """Examines the machine when it is opened for the first time, and when asked."""

    def __init__(self, theme: Theme, doctor: DoctorService, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._doctor = doctor
        self._shown: Diagnosis | None = None
        self.set_title(self.tr("Diagnosis"))
        self._build_buttons()
        self._build_progress()
        self._build_filter()
        self._checks = self.section()
        self._left_out = self.section(self.tr("Not checked"), folded=True)
        doctor.changed.connect(self._follow)
        self._follow()

    def opened(self) -> None:
        """Examine, if that was not done yet."""
        if self._doctor.diagnosis is None:
            self._doctor.start()

    def _build_buttons(self) -> None:
        self._copy = TextButton(self.theme, self.tr("Copy report"), "copy")
        self._copy.setObjectName("copyReport")
        self._copy.setToolTip(self.tr("A block for a bug report, without names and serial numbers"))
        self._copy.clicked.connect(self._copy_report)
        self._again = TextButton(self.theme, self.tr("Run again"), "arrow-clockwise")
        self._again.setObjectName("runDoctor")
        self._again.clicked.connect(self._run_or_stop)
        for button in (self._copy, self._again):
            self.add_to_head(button)

    def _build_progress(self) -> None:
        self._progress = QWidget()
        self._progress.setObjectName("doctorProgress")
        self._step = plain_label("", "muted")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, len(STEPS))
        column = QVBoxLayout(self._progress)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_S)
        column.addWidget(self._step)
        column.addWidget(self._bar)
        self.add(self._progress)
        self._late = LateVisibility(self._progress)

    def _build_filter(self) -> None:
        self._only = Switch(self.theme, self.tr("Only problems"))
        self._only.setObjectName("onlyProblems")
        self._only.chosen.connect(self._filter)
        label = QLabel(self.tr("Only problems"))
        self._filter_row = QWidget()
        row = QHBoxLayout(self._filter_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addWidget(self._only)
        row.addWidget(label)
        row.addStretch()
        self.add(self._filter_row)

    def _follow(self) -> None:
        running, diagnosis = self._doctor.running, self._doctor.diagnosis
        self._again.setText(self.tr("Stop") if running else self.tr("Run again"))
        self._again.set_icon("x" if running else "arrow-clockwise")
        self._copy.setEnabled(diagnosis is not None and not running)
        self._filter_row.setVisible(diagnosis is not None)
        if running:
            self._show_step()
            self._late.show()
        else:
            self._late.hide()
        if diagnosis is not None and diagnosis is not self._shown:
            self._show(diagnosis)
        if diagnosis is None:
            self.set_intro(self.tr("Looks at system, driver, engine and memory.") if not running else "")

    def _show_step(self) -> None:
        step = self._doctor.step or Step.ENGINE
        self._bar.setValue(STEPS.index(step))
        self._step.setText(
            {
                Step.ENGINE: self.tr("Asking the engine what it found…"),
                Step.SYSTEM: self.tr("Looking at kernel, cards and memory…"),
                Step.VULKAN: self.tr("Asking Vulkan…"),
                Step.MESA: self.tr("Asking for the version of Mesa…"),
                Step.VERDICT: self.tr("Judging…"),
            }[step]
        )

    def _show(self, diagnosis: Diagnosis) -> None:
        self._shown = diagnosis
        self.set_intro(diagnosis_summary(diagnosis))
        self._checks.clear()
        for check in diagnosis.checks:
            self._checks.add(CheckRow(self.theme, check), _words(check))
        self._left_out.clear()
        for left in diagnosis.left_out:
            self._left_out.add(Row(self.theme, left.title, left.reason))
        self._filter()

    def _filter(self) -> None:
        for row in self._checks.rows:
            if isinstance(row, CheckRow):
                fine = row.check.status is Status.OK
                self._checks.set_wanted(row, not (fine and self._only.isChecked()))

    def _run_or_stop(self) -> None:
        if self._doctor.running:
            self._doctor.cancel()
        else:
            self._doctor.start()

    def _copy_report(self) -> None:
        if self._doctor.diagnosis is not None:
            QGuiApplication.clipboard().setText(markdown(self._doctor.diagnosis, program_version()))
            self._copy.setText(self.tr("Copied"))


def _words(check: Check) -> str:
    return f"{check.id} {check.title} {check.found} {check.advice} {check.fix or ''}"
