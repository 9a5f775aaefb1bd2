"""Reading forward through a file of known size without trusting a number in it."""

from __future__ import annotations

import struct
from typing import BinaryIO

from engine.library.gguf.records import HeaderProblem
from engine.library.states import FileState

WINDOW = 256 * 1024
"""Bytes read from the file at once."""

MAX_STRING = 64 * 1024 * 1024
MAX_COUNT = 1 << 32
"""Lengths above these are no sign of a cut file: no model has them."""

_U32 = struct.Struct("<I")
_U64 = struct.Struct("<Q")


class HeaderError(Exception):
    """Carries the `HeaderProblem` out of the parser."""

    def __init__(self, problem: HeaderProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def damaged(message: str) -> HeaderError:
    """The file contradicts itself."""
    return HeaderError(HeaderProblem(state=FileState.DAMAGED, message=message))


def cut_off() -> HeaderError:
    """The file ends in the middle of its header."""
    text = "The file ends in the middle of its header: only the beginning is there."
    return HeaderError(HeaderProblem(state=FileState.INCOMPLETE, message=text))


class Cursor:
    """A position in a file; memory use is one window, whatever the file claims."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._base = 0
        self._buffer = b""
        self._at = 0

    @property
    def position(self) -> int:
        """Offset from the start of the file, in bytes."""
        return self._base + self._at

    @property
    def left(self) -> int:
        """Bytes between the position and the end of the file."""
        return self._size - self.position

    def _need(self, count: int) -> None:
        if count > len(self._buffer) - self._at:
            if count > self.left:
                raise cut_off()
            self._base, self._at = self.position, 0
            self._file.seek(self._base)
            self._buffer = self._file.read(max(count, min(WINDOW, self._size - self._base)))
            if len(self._buffer) < count:
                raise cut_off()

    def take(self, count: int) -> bytes:
        """The next ``count`` bytes. Callers bound ``count``."""
        self._need(count)
        data = self._buffer[self._at : self._at + count]
        self._at += count
        return data

    def skip(self, count: int) -> None:
        """Go on by ``count`` bytes, reading nothing."""
        if count > self.left:
            raise cut_off()
        self._at += count
        if self._at > len(self._buffer):
            self._base, self._buffer, self._at = self.position, b"", 0

    def u32(self) -> int:
        """The next 32-bit number."""
        return int(_U32.unpack(self.take(4))[0])

    def u64(self) -> int:
        """The next 64-bit number."""
        return int(_U64.unpack(self.take(8))[0])

    def scalar(self, layout: str) -> int | float:
        """The next number in ``struct`` layout."""
        value: int | float = struct.unpack(layout, self.take(struct.calcsize(layout)))[0]
        return value

    def length(self, what: str, limit: int = MAX_STRING) -> int:
        """The next 64-bit length, checked against ``limit`` and the bytes left."""
        count = self.u64()
        if count > limit:
            raise damaged(f"The header gives an impossible length for {what}.")
        if count > self.left:
            raise cut_off()
        return count

    def skip_strings(self, count: int) -> None:
        """Go over ``count`` strings. A vocabulary has some 100,000 of them, so this loop is tight."""
        unpack = _U64.unpack_from
        while count:
            self._need(8)
            data, at = self._buffer, self._at
            last = len(data) - 8
            while count and at <= last:
                length = unpack(data, at)[0]
                if length > MAX_STRING:
                    raise damaged("The header gives an impossible length for a text in a list.")
                at += 8 + length
                count -= 1
            self.skip(at - self._at)
