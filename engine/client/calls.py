"""Requests as plain calls for programs without an event loop: a result comes back or a `VrambleError` is raised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.client.blocking import BlockingWorker
from engine.errors import VrambleError
from engine.protocol.frames import (
    Delta,
    DryRan,
    DryRun,
    Failed,
    Finished,
    FromWorker,
    Generate,
    Load,
    Loaded,
    Progress,
    SelfTest,
    SelfTested,
)
from engine.protocol.probe import Reference
from engine.protocol.types import ChatMessage, LoadOptions, Sampling, Thinking

DRY_RUN_SECONDS = 20.0
"""A dry run takes half a second; on a machine that is busy or has a huge vocabulary to read a few."""


def load_model(
    worker: BlockingWorker, path: Path, options: LoadOptions, on_progress: Callable[[Progress], None]
) -> Loaded:
    """Load a model and wait until it is there.

    Raises:
        VrambleError: The load failed, was cancelled, or the worker died.
    """
    for event in worker.request(Load(id=worker.next_id(), path=str(path), options=options)):
        if isinstance(event, Progress):
            on_progress(event)
        elif isinstance(event, Loaded):
            return event
        else:
            raise_failure(event)
    raise AssertionError("a request ends in a terminal event")


def generate(
    worker: BlockingWorker,
    messages: Sequence[ChatMessage],
    sampling: Sampling,
    max_tokens: int | None,
    on_delta: Callable[[Delta], None],
    *,
    stop: Sequence[str] = (),
    thinking: Thinking = Thinking(),  # noqa: B008 - frozen
    prefill: str = "",
    on_progress: Callable[[Progress], None] = lambda _progress: None,
) -> Finished:
    """Answer a conversation; the text comes through ``on_delta`` as it is generated. Arguments as in `Generate`.

    Args:
        on_progress: Hears how much of the prompt was read.

    Raises:
        VrambleError: The answer failed, or the worker died. A cancelled answer is none of these.
    """
    request = Generate(
        id=worker.next_id(),
        messages=tuple(messages),
        sampling=sampling,
        max_tokens=max_tokens,
        stop=tuple(stop),
        thinking=thinking,
        prefill=prefill,
    )
    for event in worker.request(request):
        if isinstance(event, Delta):
            on_delta(event)
        elif isinstance(event, Progress):
            on_progress(event)
        elif isinstance(event, Finished):
            return event
        else:
            raise_failure(event)
    raise AssertionError("a request ends in a terminal event")


def self_test(worker: BlockingWorker, reference: Reference | None = None) -> SelfTested:
    """Read off what the loaded model computes; with ``reference`` what the CPU computes in its place.

    The worker of a reference is good for nothing else afterwards, and needs no model.

    Raises:
        VrambleError: The test could not be made, was cancelled, or the worker died.
    """
    for event in worker.request(SelfTest(id=worker.next_id(), reference=reference)):
        if isinstance(event, SelfTested):
            return event
        raise_failure(event)
    raise AssertionError("a request ends in a terminal event")


def dry_run(worker: BlockingWorker, path: Path, options: LoadOptions, seconds: float = DRY_RUN_SECONDS) -> DryRan:
    """Simulate a load in a worker that holds no model.

    Args:
        seconds: Time limit; a worker that exceeds it is killed.

    Raises:
        VrambleError: It failed (code of the load that would fail), took too long, or the worker died.
    """
    request = DryRun(id=worker.next_id(), path=str(path), options=options)
    for event in worker.request(request, seconds=seconds):
        if isinstance(event, DryRan):
            return event
        raise_failure(event)
    raise AssertionError("a request ends in a terminal event")


def raise_failure(event: FromWorker) -> None:
    """Raise the `VrambleError` that a `Failed` event stands for; anything else passes."""
    if isinstance(event, Failed):
        raise VrambleError(event.code, event.message, event.next_step, event.detail)
