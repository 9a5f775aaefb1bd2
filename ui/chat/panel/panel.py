"""The panel at the right: what the answers of the open conversation are made with."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.chat.parameters import Parameters
from app.chat.presets import Presets
from app.notices import Notices
from ui.chat.panel.constraints import Constraints
from ui.chat.panel.preset_bar import PresetBar
from ui.chat.panel.samplers import Samplers
from ui.load.fold import Fold
from ui.settings.row import plain_label
from ui.theme import SPACE_M, SPACE_S, Theme, set_role
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton

WIDTH = 316


class ParameterPanel(QWidget):
    """System prompt, presets, samplers, thinking, limits, form of the answer; defaults of the model.

    Attributes:
        closed: It should go.
    """

    closed = Signal()

    def __init__(
        self, theme: Theme, parameters: Parameters, presets: Presets, notices: Notices, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("parameterPanel")
        self._theme, self._parameters = theme, parameters
        self._samplers = Samplers(theme, parameters, self)
        self._constraints = Constraints(theme, parameters, self)
        self._presets = PresetBar(theme, parameters, presets, notices)
        self._prompt = self._samplers.prompt()
        self._reset = self._button(self.tr("Reset all"), "resetParameters", lambda: parameters.reset())
        self._keep = self._button(self.tr("Keep for this model"), "keepForModel", parameters.keep_for_model)
        self._forget = self._button(self.tr("Forget what is kept"), "forgetForModel", parameters.forget_for_model)
        self._note = plain_label(role="muted")
        self._build()
        theme.changed.connect(self._fit)
        parameters.changed.connect(self.follow)
        self._fit()
        self.follow()

    def focus(self) -> None:
        """Give the keyboard to the first field."""
        self._prompt.control.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def follow(self) -> None:
        """Say what can be reset or kept."""
        model, own, of_model = self._parameters.model, self._parameters.own, self._parameters.of_model
        self._reset.setEnabled(bool(own))
        self._keep.setEnabled(bool(own and model))
        self._forget.setVisible(bool(of_model))
        if of_model:
            self._note.setText(self.tr("{model} has values of its own.").format(model=model))
        elif model:
            self._note.setText(self.tr("Kept values hold for each conversation with {model}.").format(model=model))
        else:
            self._note.setText(self.tr("Values can be kept for a model when one is loaded."))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def _button(self, text: str, name: str, run: object) -> TextButton:
        button = TextButton(self._theme, text)
        button.setObjectName(name)
        button.clicked.connect(lambda: run())  # type: ignore[operator]
        return button

    def _build(self) -> None:
        title = QLabel(self.tr("This conversation"))
        set_role(title, "heading")
        close = IconButton(self._theme, "x", self.tr("Hide parameters"), shortcut="Ctrl+I")
        close.setObjectName("closePanelButton")
        close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.setContentsMargins(SPACE_M, SPACE_S, SPACE_S, 0)
        head.addWidget(title, 1)
        head.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_S)
        column.addLayout(head)
        column.addWidget(self._scrolled(), 1)

    def _scrolled(self) -> QScrollArea:
        inside = QWidget()
        rows = QVBoxLayout(inside)
        rows.setContentsMargins(SPACE_M, 0, SPACE_M, SPACE_M)
        rows.setSpacing(SPACE_S)
        fold = Fold(self._theme, self.tr("More samplers"), self._samplers.advanced)
        fold.button.setObjectName("moreSamplersButton")
        form = Fold(self._theme, self.tr("Form of the answer"), self._constraints.rows)
        form.button.setObjectName("constraintsButton")
        for row in (self._presets, self._prompt, *self._samplers.usual(), form, fold):
            rows.addWidget(row)
        for row in (self._reset, self._keep, self._forget, self._note):
            rows.addWidget(row)
        rows.addStretch(1)
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return area

    def _fit(self) -> None:
        self.setFixedWidth(self._theme.px(WIDTH))
