"""Tells the user how a worker or a load ended, and what can be done about it."""

from __future__ import annotations

from pathlib import Path

from app.notices import Action, Notice, Notices, Severity
from app.worker.agenda import Job
from app.worker.safe_mode import NOTICE, SafeMode
from engine.client.death_words import HANG
from engine.client.session import Verdict, WorkerDeath
from engine.protocol.frames import Failed, Load, Loaded, Terminal
from engine.protocol.types import LoadOptions

Asked = tuple[Path, LoadOptions]


class Teller:
    """Posts the notices with the key `NOTICE`: one end, one notice.

    Args:
        safe_mode: Gives a notice its button and tells by itself while it climbs; None: no button.
    """

    def __init__(self, notices: Notices, safe_mode: SafeMode | None) -> None:
        self._notices, self._safe_mode = notices, safe_mode

    def death(self, death: WorkerDeath, verdict: Verdict | None, active: Job | None, last_load: Asked | None) -> None:
        """The worker ended while it was at ``active``; ``last_load`` is the model it held otherwise."""
        safe_mode = self._safe_mode
        if safe_mode is not None and safe_mode.climbing:
            return
        severity = Severity.WARN if verdict is Verdict.NO_ANSWER else Severity.ERROR
        text = f"{death.sentence} {death.next_step}"
        code = HANG if verdict is Verdict.NO_ANSWER else death.code
        actions = self._offer(code, death.log_tail, active, last_load)
        self._notices.post(Notice(NOTICE, severity, text, death.log_tail, actions))

    def load_ended(self, job: Job, event: Terminal, worker_lives: bool) -> None:
        """A load ended. After a failure of a worker that lives there is a notice only where safer settings may help;
        the asker tells the rest."""
        if isinstance(event, Loaded):
            self._notices.withdraw(NOTICE)
        elif isinstance(event, Failed) and worker_lives and (actions := self._offer(event.code, event.detail, job)):
            text = f"{event.message} {event.next_step}".strip()
            self._notices.post(Notice(NOTICE, Severity.ERROR, text, event.detail, actions))

    def _offer(self, code: str, detail: str, active: Job | None, last_load: Asked | None = None) -> tuple[Action, ...]:
        """What can be done about the end of a worker that was at ``active``."""
        if self._safe_mode is None or active is None:
            return ()
        if isinstance(active.request, Load):
            return self._safe_mode.offer(Path(active.request.path), active.request.options, code, detail)
        return () if last_load is None else self._safe_mode.offer(*last_load, code, detail)
