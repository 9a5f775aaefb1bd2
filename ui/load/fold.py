"""Rows that are folded away until somebody wants them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from ui.theme import Theme
from ui.widgets.text_button import TextButton


class Fold(QWidget):
    """A button, and what it shows and hides; that is made when it is wanted for the first time.

    Attributes:
        toggled: It was opened or closed.
    """

    toggled = Signal(bool)

    def __init__(
        self, theme: Theme, title: str, make: Callable[[], Sequence[QWidget]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._make: Callable[[], Sequence[QWidget]] | None = make
        self.button = TextButton(theme, title, "caret-right", role="fold")
        self.button.setObjectName("advancedButton")
        self.button.setCheckable(True)
        self.button.toggled.connect(self._turn)
        self._inside = QWidget()
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        outer.addWidget(self._inside)
        self._inside.hide()

    @property
    def opened(self) -> bool:
        """Whether the rows are seen."""
        return self.button.isChecked()

    def open(self) -> None:
        """Show the rows."""
        self.button.setChecked(True)

    def _turn(self, opened: bool) -> None:
        if self._make is not None:
            make, self._make = self._make, None
            for row in make():
                self._column.addWidget(row)
        self._inside.setVisible(opened)
        self.button.set_icon("caret-down" if opened else "caret-right")
        self.toggled.emit(opened)
