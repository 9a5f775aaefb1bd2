"""One backend: whether it is loaded, why not, a switch, and its variables folded away."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.settings.records import BackendSettings
from engine.protocol.types import SWITCHED_OFF, BackendInfo
from ui.settings import words
from ui.settings.badge import Badge
from ui.settings.controls import Switch
from ui.settings.row import plain_label
from ui.settings.two_parts import TwoParts
from ui.settings.variables_editor import VariablesEditor
from ui.theme import SPACE_M, SPACE_S, SPACE_XS, Theme
from ui.widgets.text_button import TextButton

CPU = "CPU"


class BackendHead(TwoParts):
    """Name, state, reason and path at the left, the switch at the right."""

    def __init__(self, theme: Theme, info: BackendInfo, switch: Switch, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._info = info
        self._state = Badge(theme)
        self._state.setObjectName(f"backendState-{info.name}")
        self._reason = plain_label("", "muted")
        path = plain_label(words.shown_path(info.path), "muted")
        first = QHBoxLayout()
        first.setSpacing(SPACE_M)
        name = plain_label(info.name)
        name.setWordWrap(False)
        name.setMinimumWidth(0)
        first.addWidget(name)
        first.addWidget(self._state, 1)
        left = QVBoxLayout()
        left.setSpacing(SPACE_XS // 2)
        left.addLayout(first)
        left.addWidget(self._reason)
        left.addWidget(path)
        self.lay_out(left, [switch])
        path.setVisible(bool(info.path))

    def show_state(self, off: bool) -> None:
        """Show what the engine told; ``off``: the user does not want it."""
        info = self._info
        if off and info.loaded:
            self._state.show_state("minus-circle", "muted", self.tr("Loaded; off from the next start on"))
        elif off:
            self._state.show_state("minus-circle", "muted", self.tr("Switched off"))
        elif info.error == SWITCHED_OFF:
            self._state.show_state("minus-circle", "muted", self.tr("Off; on from the next start on"))
        elif info.loaded:
            self._state.show_state("check-circle", "good", self.tr("Loaded"))
        else:
            self._state.show_state("warning-circle", "warn", self.tr("Not loaded"))
        silent = off or (info.loaded and not info.error) or info.error == SWITCHED_OFF
        reason = "" if silent else info.error or self.tr("No reason was given.")
        if info.name == CPU and info.loaded and not info.error:
            reason = self.tr("A model cannot be loaded without it, so it stays on.")
        self._reason.setText(reason)
        self._reason.setVisible(bool(reason))


class BackendRow(QWidget):
    """Shows `BackendInfo` and what the settings say about it.

    Attributes:
        switched: The user wants it on or off.
        variables_changed: The user wants these variables for it.
    """

    switched = Signal(object)
    variables_changed = Signal(object)

    def __init__(self, theme: Theme, info: BackendInfo, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._info = theme, info
        self._switch = Switch(theme, self.tr("Use {0}").format(info.name))
        self._switch.setObjectName(f"backend-{info.name}")
        self._switch.chosen.connect(self.switched)
        self._switch.setEnabled(info.name != CPU)
        self._head = BackendHead(theme, info, self._switch)
        self._fold = TextButton(theme, "", "caret-right", role="fold")
        self._fold.setObjectName(f"variables-{info.name}")
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._turn)
        self._editor = VariablesEditor(theme, info.name)
        self._editor.changed.connect(self.variables_changed)
        self._editor.hide()
        self._lay_out()

    @property
    def name(self) -> str:
        """Name of the backend."""
        return self._info.name

    def show_settings(self, settings: BackendSettings) -> None:
        """Show what is set now."""
        off = settings.is_off(self.name) and self.name != CPU
        self._switch.show_value(not off)
        values = settings.environment.get(self.name, {})
        text = self.tr("Variables ({0})").format(len(values)) if values else self.tr("Variables")
        self._fold.setText(text)
        self._editor.show_values(values)
        self._head.show_state(off)
        self._fold.setVisible(self.name != CPU or bool(values))

    def _lay_out(self) -> None:
        folds = QHBoxLayout()
        folds.setContentsMargins(SPACE_S, 0, SPACE_M, 0)
        folds.addWidget(self._fold)
        folds.addStretch()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addLayout(folds)
        column.addWidget(self._editor)

    def _turn(self, opened: bool) -> None:
        self._editor.setVisible(opened)
        self._fold.set_icon("caret-down" if opened else "caret-right")
