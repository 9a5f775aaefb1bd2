"""One started program, and the talk with the agent inside it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.screen import Screen

ROOT = Path(__file__).resolve().parents[2]
POLL = 0.03

RING = 8
"""Pixels by which the window that is never shown grows each time; a screen may be scaled."""


class WaitedInVainError(AssertionError):
    """What was waited for did not come."""


class Started:
    """One run of the program.

    The threads of the CPU backend wait passively: tests share the processor, and threads that spin there for
    each other slow an answer down a hundredfold.
    """

    def __init__(
        self, screen: Screen, home: Path, environ: dict[str, str] | None = None, arguments: tuple[str, ...] = ()
    ) -> None:
        self.screen = screen
        self.home = home
        home.mkdir(parents=True, exist_ok=True)
        # Not in ``home``: the name of a socket may have 107 bytes.
        self._socket_folder = tempfile.TemporaryDirectory(prefix="agent", dir="/tmp")
        self._socket_path = f"{self._socket_folder.name}/socket"
        self.log_path = home / "program.log"
        self._log = self.log_path.open("ab")
        env = {
            **os.environ,
            "DISPLAY": screen.display,
            "VRAMBLE_HOME": str(home),
            "QT_QPA_PLATFORM": "xcb",
            "PYTHONPATH": str(ROOT),
            "NO_AT_BRIDGE": "1",
            "OMP_WAIT_POLICY": "passive",
            **(environ or {}),
        }
        env.pop("WAYLAND_DISPLAY", None)
        command = [sys.executable, "-P", str(ROOT / "tests/e2e/driven.py"), self._socket_path, *arguments]
        self.process = subprocess.Popen(command, env=env, stdout=self._log, stderr=self._log, cwd=home)
        self._stream: Any = None
        self._rings, self._inputs_told = 1, screen.inputs
        self._connect()
        self._bell = self.ask("bell")

    def _connect(self) -> None:
        link = socket.socket(socket.AF_UNIX)

        def connected() -> bool:
            if self.process.poll() is not None:
                raise AssertionError(f"the program ended with {self.process.returncode}:\n{self.log()}")
            try:
                link.connect(self._socket_path)
            except OSError:
                return False
            return True

        self.until(connected, "the program's window", 180)
        link.settimeout(90)
        self._stream = link.makefile("rwb", buffering=0)

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-4000:]

    def ask(self, question: str, **arguments: Any) -> Any:
        """One question to the agent, which answers when all input until now has been taken."""
        if self._inputs_told != self.screen.inputs:
            self._inputs_told = self.screen.inputs
            self._rings += 1
            with contextlib.suppress(RuntimeError):  # a program that is gone has no windows
                self.screen.ring(self._bell, self._rings * RING)
        asked = {"ask": question, "after": self._rings * RING, **arguments}
        self._stream.write(json.dumps(asked).encode() + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            part = self._stream.readline()
            if not part:
                raise AssertionError(f"the program is gone:\n{self.log()}")
            line += part
        answer = json.loads(line)
        if isinstance(answer, dict) and "error" in answer and len(answer) == 1:
            raise AssertionError(answer["error"])
        return answer

    def until(self, ready: Callable[[], Any], what: str, seconds: float = 90) -> Any:
        """The first true value of ``ready``."""
        end = time.monotonic() + seconds
        while True:
            value = ready()
            if value:
                return value
            if time.monotonic() > end:
                raise WaitedInVainError(f"waited {seconds:.0f} s for {what}\n{self.log()}")
            time.sleep(POLL)

    def children(self) -> list[int]:
        """Process ids of this program's child processes."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError, IndexError, ValueError):
                    stat = (entry / "stat").read_text()
                    state, parent = stat.rpartition(")")[2].split()[:2]
                    if int(parent) == self.process.pid and state != "Z":
                        found.append(int(entry.name))
        return found

    def quit(self, seconds: float = 60) -> int:
        """End as a session manager does, and give the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(60)

    def close(self) -> None:
        self.kill()
        if self._stream is not None:
            self._stream.close()
        self._log.close()
        self._socket_folder.cleanup()
