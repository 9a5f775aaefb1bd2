"""Whether a window can be shown here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from vramble_setup.report import SetupError

WITHOUT_WINDOW = ("-h", "--help", "--version", "--worker", "--download")


def wants_window(arguments: Sequence[str]) -> bool:
    """Whether `vramble` with these arguments opens its window (else it is a command)."""
    if any(word in WITHOUT_WINDOW for word in arguments):
        return False
    return not arguments or arguments[0].startswith("-")


def check(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> None:
    """Stops with one line if a window is wanted and no screen is there."""
    if not wants_window(arguments):
        return
    if any(environment.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")):
        return
    raise SetupError("There is no display to open a window on.", NO_DISPLAY_ADVICE)


NO_DISPLAY_ADVICE = "Start it in a desktop session, or use a command such as `./dev run devices`."
