"""A machine that tells which question it is asked, and that can be told to answer no more."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.doctor.host import Host, Node


class Step(StrEnum):
    """What a diagnosis is at."""

    ENGINE = "engine"
    """Waiting for the engine to say what it found."""
    SYSTEM = "system"
    VULKAN = "vulkan"
    MESA = "mesa"
    VERDICT = "verdict"


STEPS = tuple(Step)
"""In the order in which they come."""

_OF_TOOLS = {"vulkaninfo": Step.VULKAN, "mesa_package": Step.MESA}
"""By the names in `engine.doctor.host.TOOLS`."""


class StoppedError(Exception):
    """The diagnosis was cancelled."""


class WatchedHost:
    """A `Host` that calls ``watch`` before each question; what ``watch`` raises ends the diagnosis."""

    def __init__(self, host: Host, watch: Callable[[Step], None]) -> None:
        self._host, self._watch = host, watch

    def node(self, path: str) -> Node | None:
        """See `Host`."""
        self._watch(Step.SYSTEM)
        return self._host.node(path)

    def ask(self, tool: str) -> str | None:
        """See `Host`."""
        self._watch(_OF_TOOLS.get(tool, Step.SYSTEM))
        return self._host.ask(tool)

    def free_bytes(self, folder: Path) -> int | None:
        """See `Host`."""
        self._watch(Step.SYSTEM)
        return self._host.free_bytes(folder)
