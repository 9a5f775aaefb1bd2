"""Pipes without waiting, and Ctrl+C without losing a byte."""

from __future__ import annotations

import os
import signal
from types import FrameType, TracebackType
from typing import IO, Self

CHUNK = 1 << 16


def fd_of(pipe: IO[bytes] | None) -> int:
    """The descriptor of a pipe that has to be there."""
    if pipe is None:
        raise ValueError("the process has no such pipe")
    return pipe.fileno()


def read_ready(fd: int) -> bytes | None:
    """Bytes that are there, empty at the end of the file, None when there are none yet."""
    try:
        return os.read(fd, CHUNK)
    except BlockingIOError:
        return None


class Interrupts:
    """A context in which the first Ctrl+C is only noted, and the second one raises `KeyboardInterrupt`."""

    def __init__(self) -> None:
        self._count = 0
        self._before: object = None
        self._taken = False

    def __bool__(self) -> bool:
        return self._count > 0

    def __enter__(self) -> Self:
        try:
            self._before = signal.signal(signal.SIGINT, self._note)
            self._taken = True
        except ValueError:  # not the main thread: Ctrl+C does not arrive here
            self._taken = False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._taken:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._count > 1:
            raise KeyboardInterrupt
