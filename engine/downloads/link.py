"""Reading the bytes of an answer into memory of one's own: from the connection itself, or through the client."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from engine.library.hub_errors import HubError

Read = Callable[[memoryview], int]
"""Puts bytes into the memory and says how many; 0: the body is over. Raises HubError."""

GATHER_S: Final = 0.02
"""So long after its first bytes a piece waits for more: each piece costs a write, however small it is."""


class ClientReader:
    """What the client hands out, piece by piece."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = memoryview(b"")

    def read(self, place: memoryview) -> int:
        """As `Read`."""
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._held = memoryview(piece)
        taken = self._held[: len(place)]
        place[: len(taken)] = taken
        self._held = self._held[len(taken) :]
        return len(taken)


class SocketReader:
    """A body of ``length`` bytes that comes through ``link``, without the client's parser.

    The client takes 64 KiB at a time, TLS gives 16 KiB at most. Here a piece is gathered from what is there already,
    and a wait costs one call of the system only where nothing is there.

    Args:
        pieces: The body as the client would read it. The first piece is all that came together with the headers.
        stall_s: Longest silence.
    """

    def __init__(self, link: socket.socket, pieces: Iterator[bytes], length: int, stall_s: float) -> None:
        first = next(pieces, b"")
        self._first = ClientReader(iter((first,)))
        self._pieces = pieces  # the client closes the connection when nobody has them any more
        self._link = link
        self._left = max(0, length - len(first))
        self._stall_s = stall_s
        self._poll = select.poll()
        link.settimeout(0)

    def read(self, place: memoryview) -> int:
        """As `Read`."""
        count = self._first.read(place)
        if count or not self._left:
            return count
        count = self._gather(place[: self._left])
        self._left -= count
        return count

    def _gather(self, place: memoryview) -> int:
        """Wait for the first bytes as long as there is patience, and for more only a moment."""
        count = self._take(place, self._stall_s)
        if count is None:
            raise stalled(self._stall_s)
        if not count:
            raise broken_off("the connection ended")
        until = time.monotonic() + GATHER_S
        with contextlib.suppress(HubError):  # it will be told by the next read
            while count < len(place) and (more := self._take(place[count:], until - time.monotonic())):
                count += more
        return count

    def _take(self, place: memoryview, patience_s: float) -> int | None:
        """What is there; None when nothing came in time."""
        while True:
            event = select.POLLIN
            try:
                return self._link.recv_into(place)
            except (BlockingIOError, ssl.SSLWantReadError):
                pass
            except ssl.SSLWantWriteError:
                event = select.POLLOUT
            except OSError as error:
                raise broken_off(f"{type(error).__name__}: {error}") from None
            if patience_s <= 0 or not self._wait(event, patience_s):
                return None

    def _wait(self, event: int, seconds: float) -> bool:
        try:
            self._poll.register(self._link, event)
            return bool(self._poll.poll(1000 * seconds))
        except (OSError, ValueError) as error:  # closed by another thread
            raise broken_off(f"{type(error).__name__}: {error}") from None


def socket_of(stream: Any) -> socket.socket | None:
    """The socket that a body comes through; None where there is more between than its own TLS."""
    if stream is None or isinstance(stream.get_extra_info("ssl_object"), ssl.SSLObject):
        return None  # TLS to a proxy, and within it TLS to the server
    found = stream.get_extra_info("socket")
    return found if isinstance(found, socket.socket) else None


def shut(stream: Any) -> None:
    """End the connection while another thread reads from it.

    By the plain socket: a TLS one would take its state away below the reader.
    """
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
