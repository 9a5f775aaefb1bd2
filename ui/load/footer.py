"""The buttons of the load dialog."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

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
        row = QHBoxLayout(self)
        row.setContentsMargins(SPACE_L, SPACE_S, SPACE_L, SPACE_S)
        row.setSpacing(SPACE_S)
        row.addWidget(self.recommended)
        row.addWidget(self.reset_all)
        row.addStretch(1)
        for widget in (self.remember, self.cancel, self.load_button):
            row.addWidget(widget)

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What Tab visits, in order."""
        return self.recommended, self.reset_all, self.remember, self.cancel, self.load_button

    def show_load(self, text: str, problem: str) -> None:
        """What the button says, and why it cannot be pressed, or "". It only grows: nothing beside it moves."""
        self.load_button.setText(text)
        widest = max(self.load_button.minimumWidth(), self.load_button.sizeHint().width())
        self.load_button.setMinimumWidth(widest)
        self.load_button.setEnabled(not problem)
        self.load_button.setToolTip(problem)
        self.load_button.setAccessibleDescription(problem)
