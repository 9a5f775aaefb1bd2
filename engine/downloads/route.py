"""Tells when this computer has another address than before: another network, or one that came back."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Final

LOOK_S: Final = 2.0
FAR_AWAY: Final = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses for documentation (RFC 5737, RFC 3849): nobody has them, and the way to them is that to anywhere."""


def own_addresses() -> tuple[str, ...]:
    """Addresses from which this computer would reach others, without those that it has none of. Nothing is sent."""
    return tuple(address for family, far in FAR_AWAY if (address := _towards(family, far)))


def _towards(family: int, far: str) -> str:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((far, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return ""


class RouteWatch:
    """Looks from time to time.

    Args:
        moved: Called when there are other addresses than at the last look, unless there are none at all. By another
            thread.
        addresses: `own_addresses`, or a stand-in.
    """

    def __init__(self, moved: Callable[[], None], addresses: Callable[[], tuple[str, ...]] = own_addresses) -> None:
        self._moved = moved
        self._addresses = addresses
        self._known: tuple[str, ...] | None = None
        self._over = threading.Event()

    def look(self) -> None:
        """Look now. The first look only learns: offline mode ends before it and opens no socket."""
        known, self._known = self._known, self._addresses()
        if self._known and known is not None and known != self._known:
            self._moved()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Look every `LOOK_S` seconds meanwhile."""
        thread = threading.Thread(target=self._run, name="route", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _run(self) -> None:
        while not self._over.wait(LOOK_S):
            self.look()
