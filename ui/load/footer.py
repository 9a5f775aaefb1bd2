"""The buttons of the load dialog."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QHBoxLayout, QWidget

from ui.theme import SPACE_L, SPACE_S, Theme
from ui.widgets.text_button import TextButton


class Footer(QWidget):
    """What suits, the way back, whether to remember, cancel, load."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.recommended = TextButton(theme, self.tr("Recommended"), "magic-wand")
        self.recommended.setObjectName("recommendedButton")
        self.recommended.setToolTip(self.tr("Choose what suits this device and this model"))
        self.reset_all = TextButton(theme, self.tr("Reset all"), "arrow-counter-clockwise")
        self.reset_all.setObjectName("resetAllButton")
        self.reset_all.setToolTip(self.tr("Back to the settings for all models"))
        self.remember = QCheckBox(self.tr("Remember for this model"))
        self.remember.setObjectName("rememberOptions")
        self.remember.setChecked(True)
        self.cancel = TextButton(theme, self.tr("Cancel"))
        self.cancel.setObjectName("cancelOptionsButton")
        self.load_button = TextButton(theme, self.tr("Load"), role="primary")
        self.load_button.setObjectName("loadOptionsButton")
        self.load_button.setDefault(True)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        self._row.setSpacing(SPACE_S)
        self._halves = (QHBoxLayout(), QHBoxLayout())
        for half, widgets in zip(self._halves, (self.stops[:2], self.stops[2:]), strict=True):
            half.setSpacing(SPACE_S)
            for widget in widgets:
                half.addWidget(widget)
            self._row.addLayout(half)
        self._halves[0].addStretch(1)
        self._halves[1].insertStretch(0, 1)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What Tab visits, in order."""
        return self.recommended, self.reset_all, self.remember, self.cancel, self.load_button

    def minimumSizeHint(self) -> QSize:
        """Where the window is narrow, the halves are one below the other."""
        widest = max(half.minimumSize().width() for half in self._halves)
        return QSize(widest + 2 * SPACE_L, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """See `minimumSizeHint`."""
        super().resizeEvent(event)
        beside = sum(half.minimumSize().width() for half in self._halves) + SPACE_S + 2 * SPACE_L
        directions = QBoxLayout.Direction
        self._row.setDirection(directions.LeftToRight if beside <= self.width() else directions.TopToBottom)

    def show_load(self, text: str, problem: str) -> None:
        """What the button says, and why it cannot be pressed, or "". It only grows: nothing beside it moves."""
        self.load_button.setText(text)
        widest = max(self.load_button.minimumWidth(), self.load_button.sizeHint().width())
        self.load_button.setMinimumWidth(widest)
        self.load_button.setEnabled(not problem)
        self.load_button.setToolTip(problem)
        self.load_button.setAccessibleDescription(problem)
