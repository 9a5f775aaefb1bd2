"""One parameter in the panel: its name, its control, and an arrow back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.chat.parameters import Parameters
from ui.chat.panel.controls import Decimal, Lines, Whole
from ui.settings.controls import Choice
from ui.settings.row import plain_label
from ui.theme import SPACE_S, SPACE_XS, TARGET_SIZE, Theme
from ui.widgets.icon_button import IconButton

Control = Decimal | Lines | Whole | Choice


class ParameterRow(QWidget):
    """Shows and changes one field of `ChatSettings` for the open conversation.

    Args:
        problem: What is wrong with the present value, "" nothing. None: nothing ever is.
    """

    def __init__(
        self,
        theme: Theme,
        parameters: Parameters,
        field: str,
        title: str,
        text: str,
        control: Control,
        problem: Callable[[], str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._parameters, self._field, self.control = theme, parameters, field, control
        control.setObjectName(f"parameter-{field}")
        control.setToolTip(text)
        control.setAccessibleDescription(text)
        self._title = plain_label(title)
        self._title.setToolTip(text)
        self._problem = problem
        self._wrong = plain_label(role="bad")
        self._wrong.setObjectName(f"problem-{field}")
        self._wrong.setWordWrap(True)
        self._arrow = IconButton(theme, "arrow-counter-clockwise", self.tr("Reset “{0}”").format(title))
        self._arrow.setObjectName(f"reset-{field}")
        self._arrow.clicked.connect(self._reset)
        self._lay_out(wide=isinstance(control, Lines | Choice))
        control.chosen.connect(self._choose)
        parameters.changed.connect(self.follow)
        self.follow()

    def follow(self) -> None:
        """Show the present value."""
        self.control.show_value(getattr(self._parameters.present, self._field))
        own = self._field in self._parameters.own
        if self._arrow.hasFocus() and not own:
            self.control.setFocus(Qt.FocusReason.OtherFocusReason)
        self._arrow.setVisible(own)
        self.tell("" if self._problem is None else self._problem())

    def tell(self, problem: str) -> None:
        """Say what is wrong with the value; "" nothing."""
        self._wrong.setText(problem)
        self._wrong.setVisible(bool(problem))
        text = self.control.toolTip()
        self.control.setAccessibleDescription(f"{problem} {text}".strip())

    def _choose(self, value: Any) -> None:
        self._parameters.change(**{self._field: value})

    def _reset(self) -> None:
        self._parameters.reset(self._field)

    def _lay_out(self, *, wide: bool) -> None:
        head = QHBoxLayout()
        head.setSpacing(SPACE_XS)
        head.addWidget(self._title, 1)
        head.addWidget(self._arrow)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, SPACE_XS)
        column.setSpacing(SPACE_XS)
        column.addLayout(head)
        head.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)
        policy = self._arrow.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self._arrow.setSizePolicy(policy)
        if wide:
            column.addWidget(self.control)
            column.addWidget(self._wrong)
        else:
            head.addSpacing(SPACE_S)
            head.addWidget(self.control)
            self.setMinimumHeight(self._theme.px(TARGET_SIZE))
