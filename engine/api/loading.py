"""Which file, which options, and which command: what both engines need before they start a worker."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from engine.api.keywords import changed
from engine.client.command import WorkerCommand, worker_command
from engine.errors import VrambleError
from engine.library.argument import find_model_file
from engine.loading.check import check_options
from engine.paths import find_paths
from engine.protocol.caching import CachePolicy
from engine.protocol.frames import Failed, FromWorker, Load, Loaded, Progress
from engine.protocol.types import LoadOptions

OnLoad = Callable[[float], object]
"""Called with the share of the model that is loaded, 0 to 1."""


class Plan(msgspec.Struct, frozen=True):
    """A model that is to be loaded."""

    path: Path
    options: LoadOptions
    cache: CachePolicy
    command: WorkerCommand

    def request(self, id_: int) -> Load:
        """The request to load it."""
        return Load(id=id_, path=str(self.path), options=self.options, cache=self.cache)


def plan(
    model: str | os.PathLike[str], options: LoadOptions | None, cache: CachePolicy | None, keywords: Mapping[str, Any]
) -> Plan:
    """Find the model and check the options.

    Raises:
        VrambleError: There is no such model; an option that is not there or cannot be meant.
    """
    wanted = changed(options or LoadOptions(), keywords)
    check_options(wanted)
    paths = find_paths()
    return Plan(
        find_model_file(paths, os.fspath(model)), wanted, cache or CachePolicy(), worker_command(paths.backends)
    )


def loaded_of(event: FromWorker, on_load: OnLoad | None) -> Loaded | None:
    """The end of a load, or None while it goes on.

    Raises:
        VrambleError: It failed.
    """
    if isinstance(event, Failed):
        raise VrambleError(event.code, event.message, event.next_step, event.detail)
    if isinstance(event, Progress) and on_load is not None and event.total > 0:
        on_load(event.done / event.total)
    return event if isinstance(event, Loaded) else None


def busy() -> VrambleError:
    """An answer is running."""
    return VrambleError("busy", "An answer is still running.", "Read it to its end, or close it, before the next one.")


def closed() -> VrambleError:
    """The engine was closed."""
    return VrambleError("closed", "This engine was closed.", "Make another one.")
