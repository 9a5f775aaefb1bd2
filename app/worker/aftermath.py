"""What happens after the end of a worker or of a load: who is told, and what goes on by itself."""

from __future__ import annotations

import weakref

from PySide6.QtCore import QObject, Signal

from app.notices import Notices
from app.worker.agenda import Job
from app.worker.connection import WorkerConnection
from app.worker.pump import Pump
from app.worker.safe_mode import SafeMode
from app.worker.teller import Teller
from engine.client.session import Verdict, WorkerDeath
from engine.protocol.frames import Failed, Load, Terminal

COMPUTING = "decode-failed"
STARTS_AGAIN = "It is started again."
LOADS_AGAIN = "It is started again and loads the model."


class Aftermath(QObject):
    """Follows the connection and the pump.

    Args:
        notices: Where ends are told; None: nowhere.
        safe_mode: Gives notices their buttons; None: there are no safer settings.

    Attributes:
        died: `WorkerDeath`.
    """

    died = Signal(object)

    def __init__(
        self,
        link: WorkerConnection,
        pump: Pump,
        notices: Notices | None,
        safe_mode: SafeMode | None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._link, self._pump = link, pump
        self._teller: Teller | None = None
        link.ended.connect(self._ended)
        pump.job_ended.connect(self._job_ended)
        if notices is not None:
            own = weakref.proxy(self)  # no cycle: see SafeMode
            self._teller = Teller(notices, safe_mode, lambda: own.begin_again())
            link.stuck.connect(self._tell_stuck)
            link.let_go.connect(self._tell_let_go)

    def begin_again(self) -> None:
        """Load the last model, or start the worker when there is none."""
        self._load_again(keep=False)

    def _ended(self, death: WorkerDeath | None, verdict: Verdict | None, failures: list[Failed]) -> None:
        """The worker is gone. A crash ends what waits too; a kill after a cancel was wanted, so the rest goes on."""
        active, teller = self._pump.active, self._teller
        unanswered = death is not None and verdict is Verdict.NO_ANSWER
        reloads = unanswered and active is not None and active.together
        if death is not None:
            if not unanswered:
                self._pump.drop_waiting(lambda job: job.failed_by(death), overtaken=True)
            self.died.emit(death)
            if teller is not None:
                goes_on = LOADS_AGAIN if reloads else STARTS_AGAIN if unanswered else ""
                teller.death(death, verdict, active, self._pump.last_load, goes_on)
        self._pump.worker_ended(death, failures)
        if reloads:
            self._load_again(keep=True)
        elif unanswered:
            self._pump.start({})

    def _load_again(self, keep: bool) -> None:
        load = self._pump.reload()
        if self._teller is not None:
            self._teller.load_of_ours(load, keep)
        self._pump.start({})

    def _job_ended(self, job: Job, event: Terminal) -> None:
        if isinstance(job.request, Load) and self._teller is not None:
            self._teller.load_ended(job, event, self._link.running)
        elif isinstance(event, Failed) and event.code == COMPUTING and not job.quiet:
            self._replace(job, event)

    def _replace(self, job: Job, event: Failed) -> None:
        """Computing failed and the worker lives. A device that was lost stays lost in that process, so the next
        message gets another one."""
        if self._teller is not None:
            self._teller.computing_failed(job, event, self._pump.last_load)
        self._link.stop()

    def _tell_stuck(self, pid: int) -> None:
        if self._teller is not None:
            self._teller.stuck(pid)

    def _tell_let_go(self, pid: int) -> None:
        if self._teller is not None:
            self._teller.let_go(pid)
