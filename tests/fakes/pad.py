"""A gamepad in a machine's tree: its sysfs files, and a FIFO as its device."""

from __future__ import annotations

import os
from pathlib import Path

from engine.pad.events import BUTTONS, EV_KEY, FORMAT

PAD_KEYS = "7cdb000000000000 0 0 0 0"
"""The buttons of an Xbox pad as the kernel prints them (``capabilities/key``)."""

CODES = {name: code for code, name in BUTTONS.items()}


def add_pad(root: Path, number: int, *, vendor: str = "28de", product: str = "11ff", keys: str = PAD_KEYS) -> Path:
    """The sysfs files of ``event<number>``; without more said it is Steam's pad."""
    folder = root / f"sys/class/input/event{number}/device"
    for name, text in (("capabilities/key", keys), ("id/vendor", vendor), ("id/product", product)):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{text}\n")
    return folder


class FakePad:
    """Somebody who holds it."""

    def __init__(self, root: Path, number: int = 7) -> None:
        add_pad(root, number)
        path = root / f"dev/input/event{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        self._handle = os.open(path, os.O_RDWR)

    def push(self, name: str, value: int = 1) -> None:
        """Press a button (1), or let it go (0)."""
        os.write(self._handle, FORMAT.pack(0, 0, EV_KEY, CODES[name], value))

    def press(self, *names: str) -> None:
        """Press and let go, one after the other."""
        for name in names:
            self.push(name)
            self.push(name, 0)

    def close(self) -> None:
        """Put it down."""
        os.close(self._handle)
