"""What the import child and its parent say to each other: one JSON object a line.

The parent writes one request and keeps the pipe open; closing it ends the child. The child answers with any number of
`Going` and exactly one terminal event. Paths travel as bytes, because a folder's name need not be text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import msgspec

from engine.chat_files.importing import Imported
from engine.errors import VrambleError
from engine.own_process import module_command, with_source

LOG_TAIL: Final = 2000


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """Take all conversations of ``files`` into ``database``, which exists."""

    database: bytes
    files: tuple[bytes, ...]


class Going(msgspec.Struct, frozen=True, kw_only=True, tag="going"):
    """See `engine.chat_files.importing.Progress`."""

    done: int
    total: int


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Terminal: everything is there."""

    imported: Imported


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """Terminal: nothing was taken. Fields as in `engine.errors.VrambleError`."""

    code: str
    message: str
    next_step: str = ""
    detail: str = ""

    def error(self) -> VrambleError:
        """As an exception."""
        return VrambleError(self.code, self.message, self.next_step, self.detail)


Event = Going | Done | Failed

_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(Import)
_events = msgspec.json.Decoder(Event)


def command() -> list[str]:
    """Program and arguments of the child."""
    return module_command("engine.chat_files")


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment of the child: the parent's, with this program's code first on the module path."""
    return with_source(os.environ if base is None else base)


def encode(message: Import | Event) -> bytes:
    """One line."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Import:
    """The request in ``line``. Raises msgspec.DecodeError."""
    return _requests.decode(line)


def decode_event(line: bytes) -> Event | None:
    """The event in ``line``; None when it is none."""
    try:
        return _events.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def failed(error: VrambleError) -> Failed:
    """Terminal event for ``error``."""
    return Failed(code=error.code, message=error.message, next_step=error.next_step, detail=error.detail)


def died(code: int, log: bytes) -> Failed:
    """Terminal event for a child that ended without one; ``code`` below 0 is a signal."""
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return Failed(
        code="import-died",
        message=f"The import ended before it was done ({how}).",
        next_step="Nothing was imported. Try again; a very large export may need more memory than is free.",
        detail=log.decode("utf-8", "replace")[-LOG_TAIL:],
    )
