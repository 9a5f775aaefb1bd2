"""The driver's side of a party: its process, its lines, the CPU time of its processes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

TICK = os.sysconf("SC_CLK_TCK")


class PartyEnded(Exception):  # noqa: N818 - a party may be missing
    """It has ended, or does not do what it should; the text says why."""


class Request(msgspec.Struct, frozen=True):
    """One message to answer."""

    prompt: str
    max_tokens: int
    seed: int
    temperature: float


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """One answer. Seconds from the request to the first text and to the end; ``cpu``: CPU seconds in between."""

    first: float
    seconds: float
    tokens: int
    cut: bool
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        """Tokens a second after the first text."""
        return (self.tokens - 1) / (self.seconds - self.first)

    @property
    def cpu_per_token(self) -> float:
        """CPU seconds for each token, the prompt's share in it."""
        return self.cpu / self.tokens


class Party:
    """One process that answers. A context manager: leaving it ends the process."""

    def __init__(self, command: Sequence[str], folder: Path | None = None) -> None:
        self._process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        self.words = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(10 if kind is None else 0.1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def start(self, settings: dict[str, Any]) -> None:
        """Have it load the model.

        Raises:
            PartyEnded: It could not.
        """
        self.words = str(self._talk(settings)["ready"])

    def turn(self, request: Request) -> Turn:
        """Have it answer.

        Raises:
            PartyEnded: It could not.
        """
        before = cpu_seconds(self._process.pid)
        answer = msgspec.convert(self._talk(msgspec.to_builtins(request)), Turn)
        return msgspec.structs.replace(answer, cpu=cpu_seconds(self._process.pid) - before)

    def _talk(self, record: dict[str, Any]) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        line = ""
        if stdin is not None and stdout is not None:
            try:
                stdin.write(json.dumps(record) + "\n")
                stdin.flush()
            except BrokenPipeError:
                pass
            else:
                line = stdout.readline()
        if not line:
            raise PartyEnded(f"it ended with exit code {self._process.wait()}")
        return dict(json.loads(line))


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and of its children, also of those that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    own = sum(map(int, fields[11:15])) / TICK
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return own + sum(map(cpu_seconds, map(int, children)))
