"""`vramble chat` in a pseudo terminal, typed at and read from as a user would."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from types import TracebackType
from typing import Self

import psutil

DEADLINE = 60.0
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


class Terminal:
    """One run. Everything that appears is in ``seen``, with escape sequences; `wait` looks at the text."""

    def __init__(self, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null"}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "app.main", "chat", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self.seen = ""
        self._from = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def type(self, text: str) -> None:
        """Press keys; a line feed is Enter."""
        self._from = len(self.text)
        os.write(self._master, text.replace("\n", "\r").encode())

    def interrupt(self) -> None:
        """Ctrl+C: the program gets the signal, the worker has a group of its own.

        Not between two steps of the program: Python's `input` hears of a signal only while it waits for a key.
        """
        self._from = len(self.text)
        end = time.monotonic() + DEADLINE
        while psutil.Process(self.process.pid).status() != psutil.STATUS_SLEEPING:
            assert time.monotonic() < end, "it never waits"
        self.process.send_signal(signal.SIGINT)

    @property
    def text(self) -> str:
        """What was seen, without escape sequences."""
        return COLOURS.sub("", self.seen)

    def wait(self, wanted: str) -> str:
        """Until ``wanted`` appears behind what was there before the last key; gives what appeared."""
        end = time.monotonic() + DEADLINE
        while wanted not in self.text[self._from :]:
            assert time.monotonic() < end, f"no {wanted!r} in {self.text!r}"
            assert self._read(end - time.monotonic()), f"ended without {wanted!r}: {self.text!r}"
        found = self.text[self._from :]
        self._from += found.index(wanted) + len(wanted)
        return found

    def ready(self) -> None:
        """Until it waits for the next message."""
        self.wait("> ")

    def say(self, text: str) -> str:
        """Type a line and wait until the next one can come; gives what appeared, the echo in it."""
        self.type(text + "\n")
        begin = self._from
        self.wait("\n")
        self.wait("> ")
        return self.text[begin:]

    def end(self) -> int:
        """The exit code, after the rest was read."""
        while self._read(DEADLINE):
            pass
        return self.process.wait(DEADLINE)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(seconds, 0))
        if not ready:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.seen += data.decode("utf-8", "replace")
        return bool(data)
