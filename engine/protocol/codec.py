"""Frames to bytes and back: one JSON object a line, UTF-8, newline-terminated."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from engine.protocol.frames import FromWorker, ToWorker

MAX_LINE = 64 * 1024 * 1024
"""Longest accepted line in bytes. A conversation fits; an endless line does not eat the memory."""

_encoder = msgspec.json.Encoder()
T = TypeVar("T")


class Garbage(msgspec.Struct, frozen=True):
    """A line that is no frame: counted and logged by the reader, never fatal."""

    line: bytes
    reason: str


def encode(frame: ToWorker | FromWorker) -> bytes:
    """One line for ``frame``. Lone surrogates in its texts become U+FFFD.

    msgspec refuses surrogates; text from a clipboard or a damaged file may hold them.
    """
    try:
        return _encoder.encode(frame) + b"\n"
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(frame)
        return _encoder.encode(_without_surrogates(plain)) + b"\n"


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value


class LineDecoder(Generic[T]):
    """Turns a stream of bytes, cut anywhere, into frames and `Garbage`."""

    def __init__(self, decoder: msgspec.json.Decoder[T], max_line: int = MAX_LINE) -> None:
        self._decoder = decoder
        self._max_line = max_line
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> list[T | Garbage]:
        """Frames completed by ``data``, in order; an unfinished last line is kept."""
        frames: list[T | Garbage] = []
        *lines, rest = data.split(b"\n")
        for line in lines:
            whole = self._take(line)
            if self._skipping:
                self._skipping = False
            elif len(whole) > self._max_line:
                frames.append(_too_long(whole))
            elif whole.strip():
                frames.append(self._decode(whole))
        self._keep(rest, frames)
        return frames

    def _take(self, line: bytes) -> bytes:
        self._parts.append(line)
        whole = b"".join(self._parts)
        self._parts, self._size = [], 0
        return whole

    def _keep(self, rest: bytes, frames: list[T | Garbage]) -> None:
        if self._skipping or not rest:
            return
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > self._max_line:
            frames.append(_too_long(b"".join(self._parts)))
            self._parts, self._size, self._skipping = [], 0, True

    def _decode(self, line: bytes) -> T | Garbage:
        try:
            return self._decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return Garbage(line=line[:200], reason=str(error))


def _too_long(line: bytes) -> Garbage:
    return Garbage(line=line[:200], reason="line too long")


def worker_input() -> LineDecoder[ToWorker]:
    """Decoder for what the worker receives."""
    return LineDecoder(msgspec.json.Decoder(ToWorker))


def worker_output() -> LineDecoder[FromWorker]:
    """Decoder for what the worker sends."""
    return LineDecoder(msgspec.json.Decoder(FromWorker))
