"""What a worker process is doing, in one word."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, StrEnum, auto

from engine.protocol.frames import Generate, Load, Request, Unload


class WorkerState(StrEnum):
    """What the worker is doing. Exactly one at a time."""

    STOPPED = "stopped"
    STARTING = "starting"
    IDLE = "idle"
    """Running without a model."""
    LOADING = "loading"
    READY = "ready"
    """Running with a model."""
    GENERATING = "generating"
    STOPPING = "stopping"
    CRASHED = "crashed"


class Phase(Enum):
    """Where a process is in its life."""

    NEW = auto()
    STARTING = auto()
    RUNNING = auto()
    STOPPING = auto()
    STOPPED = auto()
    CRASHED = auto()


_STATE_OF_PHASE = {
    Phase.NEW: WorkerState.STOPPED,
    Phase.STARTING: WorkerState.STARTING,
    Phase.STOPPING: WorkerState.STOPPING,
    Phase.STOPPED: WorkerState.STOPPED,
    Phase.CRASHED: WorkerState.CRASHED,
}


def state_of(phase: Phase, pending: Iterable[Request], has_model: bool) -> WorkerState:
    """Follows from the process, the oldest pending request and the model."""
    if phase is not Phase.RUNNING:
        return _STATE_OF_PHASE[phase]
    head = next(iter(pending), None)
    if isinstance(head, Load | Unload):
        return WorkerState.LOADING
    if isinstance(head, Generate):
        return WorkerState.GENERATING
    return WorkerState.READY if has_model else WorkerState.IDLE
