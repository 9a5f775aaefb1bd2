"""How requests end when the worker does not end them properly."""

from __future__ import annotations

import re
from pathlib import PurePath

import msgspec

from engine.client.death import WorkerDeath
from engine.protocol.frames import (
    Bench,
    Benched,
    CachesSaved,
    Devices,
    DryRan,
    DryRun,
    Failed,
    Finished,
    Generate,
    ListDevices,
    Load,
    Loaded,
    Request,
    SaveCaches,
    SelfTest,
    SelfTested,
    Terminal,
    Unload,
    Unloaded,
)

_END = re.compile(
    rb'^\s*\{"type":"(?:loaded|unloaded|finished|devices|self_tested|dry_ran|benched|caches_saved|failed)","id":(\d{1,15})\D'
)
"""How a terminal frame begins, also one that cannot be read."""

SUCCESS: dict[type[Request], type[Terminal]] = {
    Load: Loaded,
    Unload: Unloaded,
    Generate: Finished,
    ListDevices: Devices,
    SelfTest: SelfTested,
    DryRun: DryRan,
    SaveCaches: CachesSaved,
    Bench: Benched,
}
"""What each request ends in when it succeeds."""


def id_of_end(line: bytes) -> int | None:
    """The request that a line which cannot be read was about to end."""
    match = _END.match(line)
    return None if match is None else int(match[1])


def misfit(id_: int, detail: str) -> Failed:
    """The end of a request whose answer makes no sense."""
    return Failed(
        id=id_,
        code="worker-protocol",
        message="The engine gave an answer that does not fit the request.",
        next_step="Try again; if it happens again, restart Vramble.",
        detail=detail,
    )


def failure(id_: int, death: WorkerDeath | None, *, cancelled: bool) -> Failed:
    """The end of a request that the end of the process overtook; ``death`` None: that was wanted."""
    if death is None:
        return Failed(id=id_, code="stopped", message="The engine was stopped before it could answer.")
    code = "cancelled" if cancelled else death.code
    return Failed(id=id_, code=code, message=death.sentence, next_step=death.next_step, detail=death.log_tail)


def with_file(death: WorkerDeath, request: Request | None) -> WorkerDeath:
    """The file that was being loaded belongs to the story: it may be the reason."""
    if not isinstance(request, Load):
        return death
    return msgspec.structs.replace(death, sentence=f"{death.sentence} It was loading {PurePath(request.path).name}.")
