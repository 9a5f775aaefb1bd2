"""Texts at the left and controls at the right, or below them where both do not fit side by side."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QSizePolicy, QWidget

from ui.theme import SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme

LEAST_TEXT = 230
"""Pixels at scale 1 that the texts need beside the controls."""


class TwoParts(QWidget):
    """Base of rows. Subclasses call `lay_out` once."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self._aside: QWidget | None = None
        self._right = QWidget()
        self._right.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self._controls = QHBoxLayout(self._right)
        self._controls.setContentsMargins(0, 0, 0, 0)
        self._controls.setSpacing(SPACE_XS)
        self._box = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._box.setContentsMargins(SPACE_L, SPACE_S, SPACE_M, SPACE_S)
        self._box.setSpacing(SPACE_S)

    @property
    def beside(self) -> bool:
        """Whether the controls stand beside the texts."""
        return self._box.direction() is QBoxLayout.Direction.LeftToRight

    def lay_out(self, left: QLayout, controls: list[QWidget], aside: QWidget | None = None) -> None:
        """Put ``left`` and ``controls`` in place; ``aside`` before the controls, or behind them when they are below."""
        self._aside = aside
        for control in controls if aside is None else [aside, *controls]:
            self._controls.addWidget(control)
        self._box.addLayout(left, 1)
        self._box.addWidget(self._right, 0, Qt.AlignmentFlag.AlignVCenter)
        if not controls and aside is None:
            self._right.hide()
        if aside is not None:
            aside.setSizePolicy(_keeping_its_place(aside.sizePolicy()))

    def minimumSizeHint(self) -> QSize:
        """As narrow as controls below the texts are."""
        hint = super().minimumSizeHint()
        least = max(self._right.minimumSizeHint().width() if not self._right.isHidden() else 0, self._least())
        return QSize(min(hint.width(), least + SPACE_L + SPACE_M), hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Choose between beside and below."""
        super().resizeEvent(event)
        needed = self._right.sizeHint().width() + self._least() + SPACE_L + SPACE_M + SPACE_S
        beside = self.width() >= needed or self._right.isHidden()
        if beside is not self.beside:
            way, edge = QBoxLayout.Direction, Qt.AlignmentFlag
            self._box.setDirection(way.LeftToRight if beside else way.TopToBottom)
            self._box.setAlignment(self._right, edge.AlignVCenter if beside else edge.AlignLeft)
            if self._aside is not None:
                self._controls.removeWidget(self._aside)
                self._controls.insertWidget(0 if beside else -1, self._aside)

    def _least(self) -> int:
        return self.theme.px(LEAST_TEXT)


def _keeping_its_place(policy: QSizePolicy) -> QSizePolicy:
    policy.setRetainSizeWhenHidden(True)
    return policy
