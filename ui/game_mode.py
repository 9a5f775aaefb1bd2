"""Whether the program runs in the Game Mode of SteamOS, which shows one window."""

from __future__ import annotations

import os
from collections.abc import Mapping


def in_game_mode(environ: Mapping[str, str] = os.environ) -> bool:
    """gamescope is the desktop: its own variable, or its name as the current desktop.

    ``SteamDeck`` says nothing: Steam sets it in desktop mode too.
    """
    if environ.get("GAMESCOPE_WAYLAND_DISPLAY"):
        return True
    return "gamescope" in environ.get("XDG_CURRENT_DESKTOP", "").lower().split(":")
