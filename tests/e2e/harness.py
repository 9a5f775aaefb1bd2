"""The real program in a real X server, driven by real mouse and key events.

`Screen` is an Xvfb; `Program` one started Vramble on it. Questions go to the agent of `driven.py`, input goes
through `xdotool`, so a test sees what a user sees. Nothing is waited for with its `--sync`, which stands still when
the pointer or the focus is there already; the X server keeps the order.
"""

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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
POLL = 0.03


class Screen:
    """An X server of its own, with nothing else on it."""

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

    def xdotool(self, *arguments: str) -> str:
        environ = {**os.environ, "DISPLAY": self.display}
        done = subprocess.run(
            ["xdotool", *arguments], env=environ, check=True, capture_output=True, text=True, timeout=30
        )
        return done.stdout

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(10)


class WaitedInVainError(AssertionError):
    """What was waited for did not come."""


class Program:
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
        self._connect()

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
        link.settimeout(20)
        self._stream = link.makefile("rwb", buffering=0)

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-4000:]

    def ask(self, question: str, **arguments: Any) -> Any:
        """One question to the agent."""
        self._stream.write(json.dumps({"ask": question, **arguments}).encode() + b"\n")
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

    def widget(self, name: str, seconds: float = 90) -> dict[str, Any]:
        """The visible widget with this object name."""
        return self.until(
            lambda: next((w for w in self.ask("find", name=name) if w["visible"]), None), f"widget {name}", seconds
        )

    def visible(self, name: str) -> bool:
        return any(w["visible"] for w in self.ask("find", name=name))

    def focus_window(self, window: int) -> None:
        self.screen.xdotool("windowfocus", str(window))

    def click_at(self, rect: list[int], button: int = 1) -> None:
        x, y = rect[0] + rect[2] // 2, rect[1] + rect[3] // 2
        self.screen.xdotool("mousemove", str(x), str(y), "click", str(button))

    def click(self, name: str, seconds: float = 90) -> None:
        """Press a widget with the left mouse button, when it can be pressed."""
        self.until(lambda: self.widget(name, seconds)["enabled"], f"{name} to be enabled", seconds)
        widget = self.widget(name)
        self.focus_window(widget["window"])
        self.click_at(widget["rect"])

    def click_button(self, text: str, seconds: float = 90) -> None:
        """Press the button with this text."""
        found = self.until(
            lambda: next((b for b in self.ask("buttons") if b["text"].replace("&", "") == text), None),
            f"button {text!r}",
            seconds,
        )
        self.click_at(found["rect"])

    def click_menu(self, text: str, seconds: float = 90) -> None:
        found = self.until(
            lambda: next((a for a in self.ask("menu") if text in a["text"].replace("&", "")), None),
            f"menu entry {text!r}",
            seconds,
        )
        self.click_at(found["rect"])

    def click_row(self, name: str, text: str, button: int = 1, column: int = 0) -> None:
        def row() -> dict[str, Any] | None:
            return next(
                (r for r in self.ask("rows", name=name, column=column) if text in r["text"] and r["rect"][2] > 0), None
            )

        self.click_at(self.until(row, f"row {text!r} in {name}")["rect"], button)

    def key(self, *keys: str) -> None:
        self.screen.xdotool("key", "--clearmodifiers", *keys)

    def type(self, text: str) -> None:
        self.screen.xdotool("type", "--delay", "4", "--", text)

    def send(self, text: str) -> None:
        """Type a message into the composer and press Enter."""
        self.click("composer")
        self.type(text)
        self.key("Return")

    def messages(self) -> list[dict[str, Any]]:
        return self.ask("messages")

    def answer(self, status: str = "done", seconds: float = 90) -> dict[str, Any]:
        """The last message, once it is an assistant's with this status."""

        def ready() -> dict[str, Any] | None:
            rows = self.messages()
            return rows[-1] if rows and rows[-1]["role"] == "assistant" and rows[-1]["status"] == status else None

        return self.until(ready, f"an answer that is {status}; rows: {self.messages()}", seconds)

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

    def shot(self, path: Path, window: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.ask("shot", path=str(path), window=window)

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


@contextlib.contextmanager
def program(
    screen: Screen, home: Path, environ: dict[str, str] | None = None, arguments: tuple[str, ...] = ()
) -> Iterator[Program]:
    """A started program that is gone afterwards; its screen is kept when the test fails."""
    run = Program(screen, home, environ, arguments)
    try:
        yield run
    except BaseException:
        with contextlib.suppress(Exception):
            run.shot(home / "failed.png")
        raise
    finally:
        run.close()
