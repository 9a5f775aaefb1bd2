"""What the window remembers from one start to the next."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

import msgspec
from PySide6.QtCore import QByteArray, QObject

from app.settings.store import SettingsStore
from ui.theme import Theme, ThemeMode

SCALES = (0.8, 0.9, 1.0, 1.1, 1.25, 1.4, 1.6, 1.8, 2.0)
"""Text sizes that the keyboard steps through."""


class WindowSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Looks and place of the window.

    Attributes:
        theme: Colour scheme the user chose.
        scale: Text size, 1.0 normal.
        geometry: Qt's window geometry, base64.
        sidebar: Whether the list of conversations is shown in a wide window.
        parameters: Whether the parameters of the conversation are shown beside it.
        conversation: Id of the conversation that was open.
        had_model: Whether there was a model at the last look; decides the first page before the folder was read.
    """

    theme: ThemeMode = ThemeMode.SYSTEM
    scale: Annotated[float, msgspec.Meta(ge=0.8, le=2.0)] = 1.0
    geometry: str = ""
    sidebar: bool = True
    parameters: bool = False
    conversation: str | None = None
    had_model: bool = False


def pack_geometry(state: QByteArray) -> str:
    """Qt's bytes as text for the settings file."""
    return base64.b64encode(bytes(state.data())).decode("ascii")


def unpack_geometry(text: str) -> QByteArray:
    """The bytes again; empty when the text is damaged."""
    try:
        return QByteArray(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray()


class KeptWindow(QObject):
    """The settings of the window as they stand, kept when they change; the theme follows, wherever they were changed.

    Attributes:
        settings: The record.
    """

    def __init__(self, store: SettingsStore, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._store, self._theme = store, theme
        self.settings = store.get(WindowSettings)
        store.changed.connect(self._follow)

    def change(self, **values: object) -> None:
        """Keep these fields with new values."""
        changed = msgspec.structs.replace(self.settings, **values)
        if changed != self.settings:
            self._store.put(changed)

    def set_mode(self, mode: ThemeMode) -> None:
        """Choose a colour scheme."""
        self.change(theme=mode)

    def set_scale(self, scale: float) -> None:
        """Choose a text size, 1.0 normal."""
        self.change(scale=scale)

    def step_scale(self, steps: int) -> None:
        """Make the text larger by so many steps, or smaller; 0 is the normal size."""
        if steps == 0:
            self.set_scale(1.0)
            return
        near = min(range(len(SCALES)), key=lambda number: abs(SCALES[number] - self.settings.scale))
        self.set_scale(SCALES[min(max(0, near + steps), len(SCALES) - 1)])

    def _follow(self, feature: str) -> None:
        if feature != "window":
            return
        before, self.settings = self.settings, self._store.get(WindowSettings)
        if self.settings.theme is not before.theme:
            self._theme.set_mode(self.settings.theme)
        if self.settings.scale != before.scale:
            self._theme.set_scale(self.settings.scale)
