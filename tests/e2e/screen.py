"""An X server, and what is typed and pressed on it."""

from __future__ import annotations

import os
import subprocess


class Screen:
    """An X server of its own, with nothing else on it.

    Attributes:
        inputs: How many times keys or the mouse were moved.
    """

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        read, write = os.pipe()
        command = [
            "Xvfb",
            "-displayfd",
            str(write),
            "-screen",
            "0",
            f"{width}x{height}x24",
            "-nolisten",
            "tcp",
            "-dpi",
            "96",
        ]
        self._server = subprocess.Popen(command, pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as answer:
            number = answer.readline().strip()
        if not number:
            raise RuntimeError("Xvfb did not start")
        self.display = f":{number}"
        self.inputs = 0

    def xdotool(self, *arguments: str) -> None:
        """Keys and the mouse. When this returns the server has handed the events on, in order."""
        self.inputs += 1
        self._xdotool(arguments)

    def ring(self, window: int, width: int) -> None:
        """Resize a window that nobody sees: who hears of it has been given all input before."""
        self._xdotool(("windowsize", str(window), str(width), "8"))

    def _xdotool(self, arguments: tuple[str, ...]) -> None:
        environ = {**os.environ, "DISPLAY": self.display}
        done = subprocess.run(
            ["xdotool", *arguments], env=environ, check=False, capture_output=True, text=True, timeout=60
        )
        if done.returncode:
            raise RuntimeError(f"xdotool {arguments}: {done.stderr}")

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(60)
