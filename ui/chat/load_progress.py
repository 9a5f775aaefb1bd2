"""How far loading is, with a way to stop it. Takes the place of the device while it is shown."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QWidget

from ui.theme import SPACE_S, Theme, set_role
from ui.widgets.text_button import TextButton

BAR_WIDTH = 110


class LoadProgress(QWidget):
    """Bar, percent, Cancel.

    Attributes:
        cancelled: The user does not want to wait.
    """

    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._bar = QProgressBar()
        self._bar.setObjectName("loadProgress")
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(self.tr("Loading the model"))
        self._percent = QLabel()
        set_role(self._percent, "muted")
        self._cancel = TextButton(theme, self.tr("Cancel"), role="quiet")
        self._cancel.setObjectName("cancelLoadButton")
        self._cancel.setAccessibleName(self.tr("Cancel loading"))
        self._cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_S, 0, 0, 0)
        row.setSpacing(SPACE_S)
        for widget in (self._bar, self._percent, self._cancel):
            row.addWidget(widget)
        theme.changed.connect(self._fit)
        self._fit()
        self.set_fraction(0.0)

    def set_fraction(self, fraction: float) -> None:
        """0..1."""
        self._bar.setValue(round(fraction * 1000))
        self._percent.setText(f"{fraction:.0%}".replace("%", " %"))

    def _fit(self) -> None:
        """Nothing moves while the percents grow."""
        self._bar.setFixedWidth(self._theme.px(BAR_WIDTH))
        self._percent.ensurePolished()
        self._percent.setMinimumWidth(self._percent.fontMetrics().horizontalAdvance("100 %"))
