"""One choice of the load dialog: what it is, what it does, its control, the way back."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QGridLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.load.draft import LoadDraft
from engine.protocol.types import LoadOptions
from ui.load.tab_order import stops_in
from ui.theme import SPACE_L, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.icon_button import IconButton

CONTROL_WIDTH = 330
"""Pixels at scale 1 that controls take; the explanation gets the rest."""

LEAST_WORDS = 220
"""With less for the explanation, pixels at scale 1, the control goes below it."""


class WheelGuard(QObject):
    """Keeps the wheel from changing a control that only lies under the pointer while the page is scrolled."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hand the wheel on to the page unless the control has the focus."""
        if event.type() is QEvent.Type.Wheel and isinstance(watched, QWidget) and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)


class ChoiceRow(QWidget):
    """Explanation at the left, control at the right, notes below, and a button that goes back to the default.

    Args:
        fields: The fields of `LoadOptions` that the row is about.
        name: What tests call it by; the first of the fields.
    """

    def __init__(
        self,
        draft: LoadDraft,
        theme: Theme,
        title: str,
        explanation: str,
        fields: tuple[str, ...],
        parent: QWidget | None = None,
        *,
        name: str = "",
    ) -> None:
        super().__init__(parent)
        self._draft, self._theme, self.fields = draft, theme, fields
        self._guard = WheelGuard(self)
        self.setObjectName(f"{name or fields[0]}Row")
        self._title = QLabel(title)
        self._title.setWordWrap(True)
        self._explanation = self._small(explanation, "muted")
        self._problem = self._small("", "bad")
        self._hint = self._small("", "muted")
        self.reset_button = self._make_reset(f"{name or fields[0]}Reset")
        self._place = QWidget()
        self.controls = QVBoxLayout(self._place)
        self.controls.setContentsMargins(0, 0, 0, 0)
        self.controls.setSpacing(0)
        self._lay_out()
        theme.changed.connect(self._fit)
        self._fit()

    def refresh(self) -> None:
        """Show the draft."""
        self.show_options(self._draft.options)
        self.reset_button.setVisible(self._draft.is_changed(*self.fields))
        found = [f"{p.message} {p.next_step}".strip() for p in self._draft.problems if p.field in self.fields]
        self._problem.setText("\n".join(dict.fromkeys(found)))
        self._problem.setVisible(bool(found))
        hint = self.hint()
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))

    def show_options(self, options: LoadOptions) -> None:
        """Set the controls without telling the draft."""

    def hint(self) -> str:
        """What should be known of the present choice; empty: nothing."""
        return ""

    def warn(self, loud: bool) -> None:
        """Whether the hint is a warning."""
        set_role(self._hint, "warn" if loud else "muted")

    @property
    def title(self) -> str:
        """What the choice is called."""
        return self._title.text()

    def first_control(self) -> QWidget | None:
        """What takes the focus when the row does."""
        return next((c for c in stops_in(self.controls) if c.isVisibleTo(self) and c.isEnabled()), None)

    def tab_stops(self) -> list[QWidget]:
        """What Tab visits, in order."""
        return [*stops_in(self.controls), self.reset_button]

    def add_control(self, control: QWidget, name: str) -> None:
        """Put ``control`` under the earlier ones, called as the row is, or ``name`` for tests."""
        self.dress(control, name)
        self.controls.addWidget(control)

    def dress(self, control: QWidget, name: str) -> None:
        """Give ``control`` its names, and keep the wheel off it."""
        control.setObjectName(name)
        if not control.accessibleName():
            control.setAccessibleName(self._title.text())
        control.setAccessibleDescription(self._explanation.text())
        if isinstance(control, QAbstractSlider | QAbstractSpinBox | QComboBox):
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            control.installEventFilter(self._guard)

    def _make_reset(self, name: str) -> IconButton:
        """It keeps its room while it is hidden."""
        button = IconButton(self._theme, "arrow-counter-clockwise", self.tr("Reset: {0}").format(self.title))
        button.setObjectName(name)
        button.clicked.connect(self._reset)
        policy = button.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        button.setSizePolicy(policy)
        return button

    def _small(self, text: str, role: str) -> QLabel:
        label = QLabel(text)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setProperty("role", role)
        return label

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the control beside or below the words."""
        super().resizeEvent(event)
        self._arrange()

    def _lay_out(self) -> None:
        self._words = QVBoxLayout()
        self._words.setSpacing(SPACE_XS)
        for label in (self._title, self._explanation, self._problem, self._hint):
            self._words.addWidget(label)
        self._words.addStretch()
        self._below: bool | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, SPACE_S, 0, SPACE_S)
        self._grid.setHorizontalSpacing(SPACE_L)
        self._grid.setVerticalSpacing(SPACE_XS)
        self._grid.setColumnStretch(0, 1)
        policy = self.sizePolicy()
        policy.setVerticalPolicy(QSizePolicy.Policy.Maximum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self._arrange()

    def _arrange(self) -> None:
        beside = self._theme.px(CONTROL_WIDTH + LEAST_WORDS) + self.reset_button.sizeHint().width() + 2 * SPACE_L
        below = self.width() < beside
        if below is self._below:
            return
        self._below = below
        top = Qt.AlignmentFlag.AlignTop
        for item in (self._words, self._place, self.reset_button):
            if isinstance(item, QWidget):
                self._grid.removeWidget(item)
            else:
                self._grid.removeItem(item)
        self._grid.addLayout(self._words, 0, 0)
        if below:
            self._grid.addWidget(self._place, 1, 0, Qt.AlignmentFlag.AlignLeft)
            self._grid.addWidget(self.reset_button, 0, 1, top)
        else:
            self._grid.addWidget(self._place, 0, 1, top)
            self._grid.addWidget(self.reset_button, 0, 2, top)

    def _fit(self) -> None:
        self._place.setFixedWidth(self._theme.px(CONTROL_WIDTH))
        self._title.setFont(self._theme.font(1.0, bold=True))
        self._arrange()

    def _reset(self) -> None:
        self._draft.reset(*self.fields)
        control = self.first_control()
        if control is not None:
            control.setFocus(Qt.FocusReason.OtherFocusReason)
