"""Requests of the window that wait for the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.client.session import WorkerDeath
from engine.protocol.frames import (
    Delta,
    Failed,
    Finished,
    Generate,
    Load,
    Loaded,
    Progress,
    SaveCaches,
    SelfTest,
    SelfTested,
    Terminal,
)
from engine.protocol.types import FinishReason, GenerationStats


def _ignore(_event: object) -> None:
    """Nobody asked for this event."""


_NAMES = {Load: "Loading", SelfTest: "The self-test", SaveCaches: "Keeping conversations"}


@dataclass(frozen=True)
class Job:
    """One request and who wants to hear of it. ``done`` is called exactly once.

    ``reload``: loads the last model again for the answers that wait behind it.
    ``quiet``: something short with the loaded model that nobody sees. It waits for all others, and gives way to them.
    """

    request: Load | Generate | SelfTest | SaveCaches
    done: Callable[[Terminal], None]
    on_delta: Callable[[Delta], None] = _ignore
    on_progress: Callable[[Progress], None] = _ignore
    reload: bool = False
    quiet: bool = False

    @property
    def id(self) -> int:
        """The request's id."""
        return self.request.id

    @property
    def together(self) -> bool:
        """It may run beside others of its kind."""
        return isinstance(self.request, Generate) and not self.quiet

    def cancelled(self) -> Terminal:
        """The terminal event of a job that was cancelled before the worker saw it."""
        if isinstance(self.request, Generate):
            return Finished(id=self.id, reason=FinishReason.CANCELLED, stats=GenerationStats())
        return Failed(id=self.id, code="cancelled", message=f"{_NAMES[type(self.request)]} was cancelled.")

    def stopped(self) -> Terminal:
        """The terminal event of a job that a wanted end of the worker overtook."""
        return Failed(id=self.id, code="stopped", message="The engine was stopped before it could answer.")

    def failed_by(self, death: WorkerDeath | None) -> Terminal:
        """The terminal event of a job that the end of the worker overtook."""
        if death is None:
            return self.stopped()
        return Failed(
            id=self.id, code=death.code, message=death.sentence, next_step=death.next_step, detail=death.log_tail
        )


@dataclass(frozen=True)
class Answered:
    """An answer that was finished or cancelled, and what was asked.

    ``text``: without the thought.
    """

    request: Generate
    text: str
    finished: Finished


class Agenda:
    """The order of what the worker has to do. Answers run together, as many as it has seats for; all else alone.

    A load goes before the answers that wait. A self-test goes first: it is of the model that was loaded just now, and
    wants its empty context. Quiet looks come last.
    """

    def __init__(self) -> None:
        self._running: list[Job] = []
        self._waiting: list[Job] = []

    @property
    def running(self) -> tuple[Job, ...]:
        """What the worker is at, oldest first."""
        return tuple(self._running)

    @property
    def idle(self) -> bool:
        """Nothing runs and nothing waits."""
        return not (self._running or self._waiting)

    @property
    def waiting_answers(self) -> tuple[Job, ...]:
        """The answers that wait."""
        return tuple(job for job in self._waiting if isinstance(job.request, Generate))

    def add(self, job: Job) -> list[Job]:
        """Queue ``job``; the jobs it makes pointless: a newer load replaces one that waits, and a self-test."""
        if isinstance(job.request, SelfTest):
            self._waiting.insert(0, job)
            return []
        if not isinstance(job.request, Load):
            behind = next((i for i, other in enumerate(self._waiting) if other.quiet), len(self._waiting))
            self._waiting.insert(len(self._waiting) if job.quiet else behind, job)
            return []
        replaced = [other for other in self._waiting if isinstance(other.request, Load | SelfTest)]
        self._waiting = [job, *(other for other in self._waiting if other not in replaced)]
        return replaced

    def find(self, id_: int) -> Job | None:
        """The running job ``id_``."""
        return next((job for job in self._running if job.id == id_), None)

    def remove(self, id_: int) -> Job | None:
        """Take the waiting job ``id_`` away."""
        found = next((job for job in self._waiting if job.id == id_), None)
        if found is not None:
            self._waiting.remove(found)
        return found

    def take(self, seats: int) -> Job | None:
        """The next job, running now; None when nothing waits, or what waits has to wait longer.

        Args:
            seats: Answers that the worker writes at once.
        """
        if not self._waiting:
            return None
        beside = self._waiting[0].together and all(job.together for job in self._running)
        if self._running and not (beside and len(self._running) < seats):
            return None
        job = self._waiting.pop(0)
        self._running.append(job)
        return job

    def ended(self, job: Job) -> bool:
        """``job`` does not run any more; false: it did not."""
        if job not in self._running:
            return False
        self._running.remove(job)
        return True

    def put_back(self, job: Job, before: Job) -> None:
        """``before`` runs in the place of ``job``, which waits for it."""
        self._waiting.insert(0, job)
        self._running[self._running.index(job)] = before

    def postpone(self, job: Job) -> None:
        """``job`` waits again, before all others: the worker is not ready for it."""
        self._running.remove(job)
        self._waiting.insert(0, job)

    def clear(self, newest: int | None = None) -> list[Job]:
        """Forget what waits, up to the id ``newest`` where one is given; the jobs that were forgotten."""
        forgotten = [job for job in self._waiting if newest is None or job.id <= newest]
        self._waiting = [job for job in self._waiting if job not in forgotten]
        return forgotten

    def clear_answers(self) -> list[Job]:
        """Forget the answers that wait (their model cannot be loaded)."""
        forgotten = [job for job in self._waiting if isinstance(job.request, Generate)]
        self._waiting = [job for job in self._waiting if job not in forgotten]
        return forgotten


def loaded_or_failed(done: Callable[[Loaded | Failed], None]) -> Callable[[Terminal], None]:
    """``done`` for a job that loads: a load ends in nothing else."""

    def call(event: Terminal) -> None:
        if isinstance(event, Loaded | Failed):
            done(event)

    return call


def finished_or_failed(done: Callable[[Finished | Failed], None]) -> Callable[[Terminal], None]:
    """``done`` for a job that answers."""

    def call(event: Terminal) -> None:
        if isinstance(event, Finished | Failed):
            done(event)

    return call


def tested_or_failed(done: Callable[[SelfTested | Failed], None]) -> Callable[[Terminal], None]:
    """``done`` for a job that tests the loaded model."""

    def call(event: Terminal) -> None:
        if isinstance(event, SelfTested | Failed):
            done(event)

    return call
