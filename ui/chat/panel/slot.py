"""The place of the panel in the window, and the button that shows it. The panel is made when it is first wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.chat.controller import ChatController
from app.notices import Notices
from app.settings.store import SettingsStore
from ui.theme import Theme, set_role
from ui.widgets.icon_button import IconButton
from ui.window_settings import WindowSettings

if TYPE_CHECKING:
    from ui.chat.panel.panel import ParameterPanel


class PanelSlot(QWidget):
    """Empty and hidden until the panel is shown; whether it is shown is remembered.

    Args:
        leave: Called when the panel goes while it has the keyboard.

    Attributes:
        button: Shows and hides it; for the line below the composer.
    """

    def __init__(
        self,
        chat: ChatController,
        notices: Notices,
        settings: SettingsStore,
        theme: Theme,
        leave: Callable[[], None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._chat, self._notices, self._settings, self._theme, self._leave = chat, notices, settings, theme, leave
        self._panel: ParameterPanel | None = None
        name = self.tr("Parameters of this conversation")
        self.button = IconButton(theme, "sliders-horizontal", name, shortcut="Ctrl+I")
        self.button.setObjectName("parametersButton")
        self.button.clicked.connect(self.toggle)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self.hide()
        if settings.get(WindowSettings).parameters:
            self._open()

    def toggle(self) -> None:
        """Show the panel and go there, or hide it."""
        opened = self.isHidden()
        if opened:
            self._open().focus()
        else:
            focused: QWidget | None = self.window().focusWidget()
            had_focus = focused is not None and self.isAncestorOf(focused)
            self.hide()
            if had_focus:
                self._leave()
        window = self._settings.get(WindowSettings)
        self._settings.put(msgspec.structs.replace(window, parameters=opened))

    def _open(self) -> ParameterPanel:
        if self._panel is None:
            self._panel = self._make()
        self.show()
        return self._panel

    def _make(self) -> ParameterPanel:
        from ui.chat.panel.panel import ParameterPanel

        edge = QFrame()
        set_role(edge, "hairline-vertical")
        panel = ParameterPanel(self._theme, self._chat.parameters, self._chat.presets, self._notices)
        panel.closed.connect(self.toggle)
        self._row.addWidget(edge)
        self._row.addWidget(panel)
        return panel
