"""What the window remembers from one start to the next."""

from __future__ import annotations

import base64
import binascii
from typing import Annotated

import msgspec
from PySide6.QtCore import QByteArray

from ui.theme import ThemeMode


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
