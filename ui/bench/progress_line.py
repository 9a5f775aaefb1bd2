"""How far a running benchmark is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app.bench.service import BenchService
from ui.bench import words
from ui.library.words import time_left
from ui.theme import SPACE_XS
from ui.widgets.elided_label import ElidedLabel


class ProgressLine(QWidget):
    """What is measured with its speed so far, the time that is left, a bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setAccessibleName(self.tr("Progress of the benchmark"))
        self._stage, self._left = ElidedLabel(), ElidedLabel()
        self._stage.setObjectName("benchStage")
        self._left.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._left.setProperty("role", "muted")
        above = QHBoxLayout()
        above.addWidget(self._stage, 3)
        above.addWidget(self._left, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, SPACE_XS)
        column.setSpacing(SPACE_XS)
        column.addLayout(above)
        column.addWidget(self._bar)

    def show_progress(self, service: BenchService) -> None:
        """Say where ``service`` is."""
        course = service.course
        self._stage.setText(words.stage(service))
        self._bar.setValue(round(1000 * course.fraction) if course is not None else 0)
        seconds = course.seconds_left if course is not None else None
        self._left.setText("" if seconds is None else time_left(seconds))
