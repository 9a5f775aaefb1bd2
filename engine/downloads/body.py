"""The bytes of an answer, as fast as they come."""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from engine.library.hub_errors import HubError

if TYPE_CHECKING:
    import httpx2

CONTENT_RANGE = re.compile(r"bytes\s+(\d+)-(\d+)/(\d+|\*)")
SMALL: Final = 1 << 20
"""What is not longer goes through the client to its end, so that the connection can be used again."""


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """An answer whose bytes are still to come.

    Attributes:
        start: Where they begin; None: 416, nothing to send; -1: the server does not say.
        total: Size of the whole file, None when it does not say.
        etag: The server's tag.
        chunks: The bytes, each chunk good until the next one is asked for. Raises HubError.
        abort: Ends a read that waits in another thread.
    """

    start: int | None
    total: int | None
    etag: str | None
    chunks: Iterator[bytes | memoryview]
    abort: Callable[[], None] = lambda: None


def body_of(answer: httpx2.Response, stall_s: float, read_size: Callable[[], int]) -> Body:
    """What ``answer`` brings. ``stall_s``: longest silence; ``read_size``: most bytes of a chunk."""
    headers = answer.headers
    tag = headers.get("ETag")
    stream = answer.extensions.get("network_stream")
    chunks = _chunks(answer, stream, stall_s, read_size)
    found = CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if answer.status_code == 416:
        return Body(start=None, total=None, etag=tag, chunks=iter(()))
    if answer.status_code == 206 and found:
        total = None if found[3] == "*" else int(found[3])
        return Body(start=int(found[1]), total=total, etag=tag, chunks=chunks, abort=lambda: _shut(stream))
    if answer.status_code == 206:
        return Body(start=-1, total=None, etag=tag, chunks=iter(()))
    return Body(start=0, total=_length(answer), etag=tag, chunks=chunks, abort=lambda: _shut(stream))


def _length(answer: httpx2.Response) -> int | None:
    """Bytes of the body as the server announced them; None where the client has to take the body apart."""
    headers = answer.headers
    length = headers.get("Content-Length", "")
    plain = "Content-Encoding" not in headers and "Transfer-Encoding" not in headers
    return int(length) if plain and length.isascii() and length.isdigit() else None


def _chunks(
    answer: httpx2.Response, stream: Any, stall_s: float, read_size: Callable[[], int]
) -> Iterator[bytes | memoryview]:
    """The first chunk holds what came together with the headers; what follows is read from the connection itself.

    The client takes 64 KiB at a time through its parser, which costs a processor more than all else together here.
    """
    rest = answer.iter_raw()  # without a chunk size: it would hold bytes back, and lose them when the connection breaks
    left = _length(answer)
    first = next(rest, b"")
    if first:
        yield first
    link = _socket_of(stream)
    if left is None or link is None or left - len(first) <= SMALL or answer.http_version != "HTTP/1.1":
        yield from rest
        return
    left -= len(first)
    buffer = memoryview(bytearray(read_size()))
    link.settimeout(stall_s)
    while left > 0:
        count = _read(link, buffer[: min(left, read_size())], stall_s)
        left -= count
        yield buffer[:count]


def _socket_of(stream: Any) -> socket.socket | None:
    """The socket that the body comes through; None where there is more between than its own TLS."""
    if stream is None or isinstance(stream.get_extra_info("ssl_object"), ssl.SSLObject):
        return None  # TLS to a proxy, and within it TLS to the server
    found = stream.get_extra_info("socket")
    return found if isinstance(found, socket.socket) else None


def _read(link: socket.socket, buffer: memoryview, stall_s: float) -> int:
    try:
        count = link.recv_into(buffer)
    except TimeoutError:
        raise stalled(stall_s) from None
    except OSError as error:
        raise broken_off(f"{type(error).__name__}: {error}") from None
    if not count:
        raise broken_off("the connection ended")
    return count


def _shut(stream: Any) -> None:
    """By the plain socket: a TLS one would take its state away below the reader."""
    found = stream.get_extra_info("socket") if stream is not None else None
    if isinstance(found, socket.socket):
        with contextlib.suppress(OSError):
            socket.socket.shutdown(found, socket.SHUT_RDWR)


def stalled(seconds: float) -> HubError:
    """The connection is open and brings nothing."""
    message = f"No data came for {seconds:.0f} s."
    return HubError("stalled", message, "Check the network connection, then resume.", retryable=True)


def broken_off(reason: str) -> HubError:
    """The connection ended before the file did."""
    return HubError(
        "broken-off", "The connection broke off before the file was complete.", "Resume later.", reason, retryable=True
    )
