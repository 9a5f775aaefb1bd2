"""How loads are sent, and what the next message loads again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

from app.worker.safe_mode import SafeLoad
from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Failed, Load, Loaded, Terminal
from engine.protocol.types import LoadOptions


class LoadPlanner(Protocol):
    """Says how a load is sent."""

    def needs_devices(self, path: Path) -> bool:
        """The worker has to tell its devices before `plan` can say anything of ``path``."""

    def plan(self, path: Path, options: LoadOptions) -> SafeLoad:
        """What to send for ``options``."""

    def sent(self, load: SafeLoad) -> None:
        """The worker was given ``load``."""


@dataclass(frozen=True)
class Step:
    """What is to be done for a load now.

    Attributes:
        request: What to send; None: it has to wait, for a process that runs with other variables or tells its devices.
        environment: Variables of the process that is wanted; None: the one that runs has to end first.
        planned: What the planner made of it.
    """

    request: Load | None
    environment: Mapping[str, str] | None
    planned: SafeLoad | None = None


class Loads:
    """The loads of one service.

    Attributes:
        planner: Makes loads safer; None: they are sent as asked.
        cache: What a load is told to keep of conversations.
        last: What the next answer loads again when there is no model: the last load that succeeded.
        seats: Answers that the model which was sent last writes at once.
    """

    def __init__(self) -> None:
        self.planner: LoadPlanner | None = None
        self.cache: Callable[[], CachePolicy] = CachePolicy
        self.last: tuple[Path, LoadOptions] | None = None
        self.seats = 1

    def next_step(self, request: Load, running: bool, added: Mapping[str, str]) -> Step:
        """What to do for ``request``. ``running``: there is a process, which was started with ``added`` variables."""
        whole = msgspec.structs.replace(request, cache=self.cache())
        if self.planner is None:
            return Step(whole, added)
        path = Path(request.path)
        if self.planner.needs_devices(path):
            return Step(None, {})
        planned = self.planner.plan(path, request.options)
        if running and added != planned.environment:
            return Step(None, None)
        return Step(msgspec.structs.replace(whole, options=planned.options), planned.environment, planned)

    def sent(self, step: Step) -> None:
        """``step`` is carried out."""
        if self.planner is not None and step.planned is not None:
            self.planner.sent(step.planned)
        if step.request is not None:
            self.seats = step.request.options.n_parallel

    def ended(self, request: Load, event: Terminal, *, reload: bool) -> None:
        """What the next message loads. Not an earlier model after a failure: another one must not answer unasked."""
        if isinstance(event, Loaded):
            self.last = (Path(request.path), request.options)
        elif isinstance(event, Failed) and event.code not in ("cancelled", "stopped") and not reload:
            self.last = None
