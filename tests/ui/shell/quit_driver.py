"""Runs the real program and ends it from outside once it is in the state that is named on the command line.

    python -P quit_driver.py STATE SIGNAL

STATE: idle, loading, generating, downloading, scanning. SIGNAL: SIGTERM, SIGINT, close.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from app.paths import find_paths
from app.services import Services
from app.wiring import build
from engine.client.session import WorkerState
from engine.protocol.types import LoadOptions
from ui.start import run

LOOK_MS = 10


class Driver(QObject):
    """Brings the services into a state, then ends the program."""

    def __init__(self, services: Services, state: str, how: str) -> None:
        super().__init__(services.lifetime)
        self._services, self._state, self._how = services, state, how
        self._begun = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._look)
        self._timer.start(LOOK_MS)

    def _look(self) -> None:
        if not any(widget.isVisible() for widget in QApplication.topLevelWidgets()):
            return
        if not self._begun:
            self._begun = True
            self._begin()
        if self._reached():
            self._timer.stop()
            print("reached", flush=True)
            self._end()

    def _begin(self) -> None:
        if self._state in ("loading", "generating"):
            path = self._services.library.folder / "owner" / "repo" / "Tiny-F32.gguf"
            self._services.worker.load(path, LoadOptions(), self._loaded)
        elif self._state == "downloading":
            self._services.downloads.start("owner/repo", "big-Q4_K_M.gguf")
        elif self._state == "scanning":
            self._services.library.rescan()

    def _loaded(self, outcome: object) -> None:
        self._services.chat.send("Go on for ever")

    def _reached(self) -> bool:
        checks: dict[str, Callable[[], bool]] = {
            "idle": lambda: self._services.worker.state is WorkerState.IDLE,
            "loading": lambda: self._services.worker.state is WorkerState.LOADING,
            "generating": lambda: any(len(row.text) > 20 for row in self._services.chat.transcript.rows[1:]),
            "downloading": lambda: bool(self._services.downloads.jobs),
            "scanning": lambda: True,
        }
        return checks[self._state]()

    def _end(self) -> None:
        if self._how == "close":
            for widget in QApplication.topLevelWidgets():
                if widget.objectName() == "mainWindow":
                    widget.close()
        else:
            os.kill(os.getpid(), getattr(signal, self._how))


def main() -> int:
    """Run until the driver ends it."""
    state, how = sys.argv[1:]

    def make(alone: bool) -> Services:
        services = build(find_paths())
        Driver(services, state, how)
        return services

    return run([], make)


if __name__ == "__main__":
    sys.exit(main())
