"""What the child that looks at model files and its parent say to each other.

Each frame is four bytes with its length, the highest first, and so many bytes of MessagePack. The parent writes `Setup`
once, then a `Look` whenever it wants to know what there is, and keeps the pipe open; closing it ends the child. A look
is answered by frames of bounded size: records that the parent has not got, and then by a `Found` that names them by
their numbers. What the last `Found` did not name is forgotten on both sides.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Final

import msgspec

from engine.library.coding import BROKEN, decoder
from engine.library.coding import encode as encoded
from engine.library.records import InstalledModel
from engine.library.roots import LibraryRoot, RootInfo
from engine.library.scan import Checked
from engine.library.survey import Wishes

MAX_FRAME: Final = 64 * 1024 * 1024
BATCH: Final = 64
"""Records in one frame at most, so that whoever takes them has soon done with it."""

LENGTH = struct.Struct(">I")


class Setup(msgspec.Struct, frozen=True, kw_only=True, tag="setup"):
    """The own models folder, and the file that keeps what was read."""

    own: Path
    index: Path | None = None


class Look(msgspec.Struct, frozen=True, kw_only=True, tag="look"):
    """Look at everything.

    Attributes:
        checked: What was hashed since the last look.
        parts: Tell after each folder what is known by then.
    """

    wishes: Wishes
    checked: tuple[Checked, ...] = ()
    parts: bool = False


class Looking(msgspec.Struct, frozen=True, kw_only=True, tag="looking"):
    """The folder called ``name`` is looked at now."""

    name: str


class Records(msgspec.Struct, frozen=True, kw_only=True, tag="records"):
    """Models that the parent has not got, and their numbers."""

    numbers: tuple[int, ...]
    models: tuple[InstalledModel, ...]


class Folders(msgspec.Struct, frozen=True, kw_only=True, tag="folders"):
    """Where something may change; the ``first`` of several frames begins anew."""

    first: bool
    paths: tuple[Path, ...]


class Found(msgspec.Struct, frozen=True, kw_only=True, tag="found"):
    """As `engine.library.records.ScanResult`, with numbers for models; ``last``: the look has ended."""

    last: bool
    models: tuple[int, ...]
    companions: tuple[int, ...]
    folder_missing: bool
    problems: tuple[str, ...]
    roots: tuple[RootInfo, ...]
    hidden: tuple[RootInfo, ...]


Request = Setup | Look
Event = Looking | Records | Folders | Found

_requests: msgspec.msgpack.Decoder[Request] = decoder(Request)  # type: ignore[arg-type]
_events: msgspec.msgpack.Decoder[Event] = decoder(Event)  # type: ignore[arg-type]


class BrokenFrameError(Exception):
    """These bytes are no frame."""


class Frames:
    """Cuts a stream of bytes into frames."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._at = 0

    def feed(self, data: bytes) -> None:
        """More of the stream."""
        self._data += data

    def take(self) -> bytes | None:
        """The next frame, None before all of it is here. Raises `BrokenFrameError`."""
        start, there = self._at + LENGTH.size, len(self._data)
        if there >= start:
            (length,) = LENGTH.unpack_from(self._data, self._at)
            if length > MAX_FRAME:
                raise BrokenFrameError(f"a frame of {length} bytes")
            if there >= start + length:
                self._at = start + length
                return bytes(self._data[start : self._at])
        del self._data[: self._at]
        self._at = 0
        return None


def encode(message: Request | Event) -> bytes:
    """``message`` as a frame."""
    body = encoded(_packed(message))
    return LENGTH.pack(len(body)) + body


def decode_request(frame: bytes) -> Request:
    """What the parent wrote. Raises `BrokenFrameError`."""
    try:
        request: Request = _requests.decode(frame)
    except BROKEN as error:
        raise BrokenFrameError(str(error)) from error
    if isinstance(request, Look):
        roots = tuple(_unpack_root(root) for root in request.wishes.roots)
        return msgspec.structs.replace(request, wishes=msgspec.structs.replace(request.wishes, roots=roots))
    return request


def decode_event(frame: bytes) -> Event:
    """What the child wrote. Raises `BrokenFrameError`."""
    try:
        event: Event = _events.decode(frame)
    except BROKEN as error:
        raise BrokenFrameError(str(error)) from error
    if isinstance(event, Found):
        roots, hidden = (tuple(_unpack(info) for info in infos) for infos in (event.roots, event.hidden))
        return msgspec.structs.replace(event, roots=roots, hidden=hidden)
    return event


def _packed(message: Request | Event) -> Request | Event:
    """Roots keep their paths as text, which may hold bytes that are none (surrogates): MessagePack carries no such."""
    if isinstance(message, Look):
        roots = tuple(_pack_root(root) for root in message.wishes.roots)
        return msgspec.structs.replace(message, wishes=msgspec.structs.replace(message.wishes, roots=roots))
    if isinstance(message, Found):
        roots_, hidden = (tuple(_pack(info) for info in infos) for infos in (message.roots, message.hidden))
        return msgspec.structs.replace(message, roots=roots_, hidden=hidden)
    return message


def _pack(info: RootInfo) -> RootInfo:
    return msgspec.structs.replace(info, root=_pack_root(info.root))


def _unpack(info: RootInfo) -> RootInfo:
    return msgspec.structs.replace(info, root=_unpack_root(info.root))


def _pack_root(root: LibraryRoot) -> LibraryRoot:
    path, relative = (os.fsencode(text).decode("latin-1") for text in (root.path, root.relative))
    return msgspec.structs.replace(root, path=path, relative=relative)


def _unpack_root(root: LibraryRoot) -> LibraryRoot:
    try:
        path, relative = (os.fsdecode(text.encode("latin-1")) for text in (root.path, root.relative))
    except UnicodeEncodeError as error:
        raise BrokenFrameError(str(error)) from error
    return msgspec.structs.replace(root, path=path, relative=relative)
