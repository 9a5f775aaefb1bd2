"""The page of a machine without a model: two ways to the first chat."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme
from ui.widgets.empty_state import Emblem
from ui.widgets.late import LateVisibility
from ui.widgets.text_button import TextButton
from ui.widgets.wrapped_label import WrappedLabel

TEXT_WIDTH = 560
EMBLEM = 56
PROGRESS_WIDTH = 240


class FirstRunPage(QWidget):
    """Says what is needed and offers it.

    Attributes:
        starter_wanted: Put the starter model in place and load it.
        find_wanted: Open the model manager where models are fetched.
    """

    starter_wanted = Signal()
    find_wanted = Signal()

    def __init__(self, theme: Theme, *, has_starter: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("firstRun")
        self._theme = theme
        self._starter = TextButton(theme, self.tr("Try the starter model"), "play-fill", role="primary")
        self._starter.setObjectName("starterButton")
        self._starter.setVisible(has_starter)
        self._starter.clicked.connect(self.starter_wanted)
        find_role = "" if has_starter else "primary"
        self._find = TextButton(theme, self.tr("Find a model"), "magnifying-glass", role=find_role)
        self._find.setObjectName("findModelButton")
        self._find.clicked.connect(self.find_wanted)
        self._progress = QProgressBar()
        self._progress.setRange(0, 0)
        self._progress.setAccessibleName(self.tr("Preparing the starter model"))
        self._busy = LateVisibility(self._progress)
        self._build(has_starter)
        theme.changed.connect(self._fit)
        self._fit()

    def set_busy(self, busy: bool) -> None:
        """The starter model is being put in place."""
        self._starter.setEnabled(not busy)
        self._starter.setText(self.tr("Preparing…") if busy else self.tr("Try the starter model"))
        if busy:
            self._busy.show()
        else:
            self._busy.hide()

    def focus(self) -> None:
        """Give the first button the keyboard."""
        button = self._find if self._starter.isHidden() else self._starter
        button.setFocus(Qt.FocusReason.OtherFocusReason)

    def _build(self, has_starter: bool) -> None:
        centre = Qt.AlignmentFlag.AlignHCenter
        row = QHBoxLayout()
        row.setSpacing(SPACE_S)
        row.addStretch()
        row.addWidget(self._starter)
        row.addWidget(self._find)
        row.addStretch()
        self._reserve = QWidget()
        inside = QVBoxLayout(self._reserve)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self._progress, 0, centre)
        column = QVBoxLayout(self)
        column.setSpacing(SPACE_S)
        column.addStretch(2)
        column.addWidget(Emblem(self._theme, "chat-teardrop-dots", tint="accent", size=EMBLEM), 0, centre)
        column.addSpacing(SPACE_M)
        column.addWidget(self._label(self.tr("Chat with a model that runs on this machine"), "title"), 0, centre)
        column.addWidget(self._label(self.tr("Nothing you write leaves it."), "muted"), 0, centre)
        column.addSpacing(SPACE_L)
        column.addLayout(row)
        column.addWidget(self._reserve, 0, centre)
        column.addWidget(self._label(self._explanation(has_starter), "muted"), 0, centre)
        column.addStretch(3)

    def _fit(self) -> None:
        self._progress.setFixedWidth(self._theme.px(PROGRESS_WIDTH))
        self._reserve.setFixedHeight(self._theme.px(SPACE_L))

    def _explanation(self, has_starter: bool) -> str:
        if has_starter:
            return self.tr(
                "The starter model is small (135 million parameters, 98 MB) and already on this disk. It shows how "
                "everything works; for good answers, find a larger model."
            )
        return self.tr("This installation came without a starter model. Find one to fetch from the Hub.")

    def _label(self, text: str, role: str) -> QWidget:
        return WrappedLabel(self._theme, text, TEXT_WIDTH, role)
