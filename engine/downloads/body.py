"""An answer with bytes of a file: which ones, and how to read them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from engine.downloads.link import ClientReader, Read, SocketReader, shut, socket_of

if TYPE_CHECKING:
    import httpx2

CONTENT_RANGE = re.compile(r"bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")
LENGTH = re.compile(r"[0-9]{1,18}")
SMALL: Final = 1 << 20
"""What is not longer goes through the client to its end, so that the connection can be used again."""


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """An answer whose bytes are still to come.

    Attributes:
        start: Where they begin; None: 416, nothing to send; -1: the server does not say.
        total: Size of the whole file, None when it does not say.
        etag: The server's tag.
        read: Puts the next bytes into memory; 0 at the end.
        abort: Ends a read that waits in another thread.
    """

    start: int | None
    total: int | None
    etag: str | None
    read: Read = lambda _place: 0
    abort: Callable[[], None] = lambda: None


def body_of(answer: httpx2.Response, stall_s: float) -> Body:
    """What ``answer`` brings. ``stall_s``: longest silence."""
    tag = answer.headers.get("ETag")
    if answer.status_code == 416:
        return Body(start=None, total=None, etag=tag)
    start, total = 0, _length(answer)
    if answer.status_code == 206:
        found = CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", "").strip())
        if found is None:
            return Body(start=-1, total=None, etag=tag)
        start, total = int(found[1]), None if found[3] == "*" else int(found[3])
    stream = answer.extensions.get("network_stream")
    return Body(start=start, total=total, etag=tag, read=_reader(answer, stall_s), abort=lambda: shut(stream))


def _length(answer: httpx2.Response) -> int | None:
    """Bytes of the body as the server announced them; None where the client has to take the body apart."""
    headers = answer.headers
    length = headers.get("Content-Length", "")
    plain = "Content-Encoding" not in headers and "Transfer-Encoding" not in headers
    return int(length) if plain and LENGTH.fullmatch(length) else None


def _reader(answer: httpx2.Response, stall_s: float) -> Read:
    """From the connection itself where nothing lies between: the client's parser costs more than all else together."""
    # Without a chunk size: that would hold bytes back, and lose them when the connection breaks.
    pieces = answer.iter_raw()
    length, link = _length(answer), socket_of(answer.extensions.get("network_stream"))
    if length is None or link is None or length <= SMALL or answer.http_version != "HTTP/1.1":
        return ClientReader(pieces).read
    return SocketReader(link, pieces, length, stall_s).read
