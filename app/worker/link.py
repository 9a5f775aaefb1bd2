"""What features need that have worker processes of their own, beside the chat's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from PySide6.QtCore import SignalInstance

from engine.protocol.frames import Request


class Link(Protocol):
    """One process of a worker after the other (`app.worker.connection.WorkerConnection`)."""

    @property
    def heard(self) -> SignalInstance:
        """Emits events."""

    @property
    def ended(self) -> SignalInstance:
        """Emits `WorkerDeath` or None, why it was killed, and the failures of what was pending."""

    @property
    def running(self) -> bool:
        """There is a process."""

    def start(self, added: Mapping[str, str]) -> None:
        """Start a process."""

    def submit(self, request: Request) -> None:
        """Send a request."""

    def cancel(self, target: int) -> None:
        """End a request; a process that does not answer is killed."""

    def stop(self) -> None:
        """End the process; returns at once."""

    def shutdown(self) -> None:
        """End the process before this returns."""
