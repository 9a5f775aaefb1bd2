"""Tells the user how a worker or a load ended, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.notices import Action, Notice, Notices, Severity
from app.worker.agenda import Job
from app.worker.safe_mode import NOTICE, SafeMode
from engine.client.death_words import HANG
from engine.client.session import Verdict, WorkerDeath
from engine.loading.fallback import fallback
from engine.protocol.frames import Failed, Load, Loaded, Terminal
from engine.protocol.types import LoadOptions

STUCK_NOTICE = "worker-stuck"
DEVICE_NOTICE = "worker-device"
AGAIN, START = "Load again", "Start again"

Asked = tuple[Path, LoadOptions]


class Teller:
    """Posts the notices with the key `NOTICE`: one end, one notice.

    Args:
        safe_mode: Gives a notice its button and tells by itself while it climbs; None: it never does.
        again: Loads the last model again, or starts the worker when there is none.
    """

    def __init__(self, notices: Notices, safe_mode: SafeMode | None, again: Callable[[], None]) -> None:
        self._notices, self._safe_mode, self._again = notices, safe_mode, again
        self._ours: int | None = None
        self._keep = False

    def death(
        self, death: WorkerDeath, verdict: Verdict | None, active: Job | None, last_load: Asked | None, goes_on: str
    ) -> None:
        """The worker ended while it was at ``active``; ``last_load`` is the model it held otherwise.

        ``goes_on``: what happens now by itself, as a sentence; "" when the user has to do the next step.
        """
        safe_mode = self._safe_mode
        if (safe_mode is not None and safe_mode.climbing) or (active is not None and active.quiet):
            return
        unanswered = verdict is Verdict.NO_ANSWER
        text = f"{death.sentence} {goes_on or death.next_step}"
        actions = self._offer(HANG if unanswered else death.code, death.log_tail, active, last_load)
        if not actions and not goes_on:
            actions = (Action(AGAIN if last_load is not None else START, self._again),)
        severity = Severity.WARN if unanswered else Severity.ERROR
        self._notices.post(Notice(NOTICE, severity, text, death.log_tail, actions))

    def computing_failed(self, job: Job, event: Failed, last_load: Asked | None) -> None:
        """An answer failed in a worker that lives; the message itself tells it, too."""
        if actions := self._offer(event.code, event.detail, job, last_load):
            text = f"{event.message} {event.next_step}".strip()
            self._notices.post(Notice(NOTICE, Severity.ERROR, text, event.detail, actions))

    def load_of_ours(self, load: int | None, keep: bool) -> None:
        """Nobody else tells how this load ends. ``keep``: the notice stays when it succeeds, as the reason for it."""
        self._ours, self._keep = load, keep

    def load_ended(self, job: Job, event: Terminal, worker_lives: bool) -> None:
        """A load ended. After a failure of a worker that lives there is a notice only where safer settings may help;
        the asker tells the rest."""
        if isinstance(event, Loaded):
            if job.id != self._ours or not self._keep:
                self._notices.withdraw(NOTICE)
            self._device(job, event)
        elif isinstance(event, Failed) and worker_lives and event.code not in ("cancelled", "stopped"):
            actions = self._offer(event.code, event.detail, job)
            if actions or job.id == self._ours:
                text = f"{event.message} {event.next_step}".strip()
                self._notices.post(Notice(NOTICE, Severity.ERROR, text, event.detail, actions))

    def _device(self, job: Job, event: Loaded) -> None:
        """The model runs, but not where it was asked for: a card was taken out, or its driver is gone."""
        text = fallback(job.request.options, event.model) if isinstance(job.request, Load) else ""
        if text:
            self._notices.post(Notice(DEVICE_NOTICE, Severity.WARN, text))
        else:
            self._notices.withdraw(DEVICE_NOTICE)

    def stuck(self, pid: int) -> None:
        """The system cannot end this process."""
        text = (
            f"The engine (process {pid}) cannot be ended: a driver or a drive does not let go of it, and its memory"
            " stays taken. Restart the computer if this stays."
        )
        self._notices.post(Notice(f"{STUCK_NOTICE}-{pid}", Severity.WARN, text))

    def let_go(self, pid: int) -> None:
        """It ended after all."""
        self._notices.withdraw(f"{STUCK_NOTICE}-{pid}")

    def _offer(self, code: str, detail: str, active: Job | None, last_load: Asked | None = None) -> tuple[Action, ...]:
        """What can be done about the end of a worker that was at ``active``."""
        if self._safe_mode is None or active is None:
            return ()
        if isinstance(active.request, Load):
            return self._safe_mode.offer(Path(active.request.path), active.request.options, code, detail)
        return () if last_load is None else self._safe_mode.offer(*last_load, code, detail)
