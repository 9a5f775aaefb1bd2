"""Looks at all folders in a process of its own, so that reading thousands of headers takes nothing from the window."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.library.scan_process import ScanProcess
from app.library.surveyor import Surveyor
from engine.errors import VrambleError
from engine.library.child.launch import command
from engine.library.child.messages import BrokenFrameError, Event, Found, Look, Looking, Setup
from engine.library.child.telling import Listener
from engine.library.scan import Checked
from engine.library.survey import Wishes

LINGER_MS = 60_000
"""So long the process waits for the next look; another one begins with what it has kept."""
ATTEMPTS = 2


class SurveyorApart(Surveyor):
    """One process for many looks. When it dies it is started anew, once for each look.

    Args:
        own: The own models folder.
        index: File that keeps what was read.
        environ: Environment of the process (`engine.library.child.launch.environment`).
        program: What is started; None: the child of this program.
    """

    def __init__(
        self,
        own: Path,
        index: Path | None,
        environ: Callable[[], Mapping[str, str]],
        parent: QObject | None = None,
        program: Sequence[str] | None = None,
    ) -> None:
        super().__init__(parent)
        self._setup = Setup(own=own, index=index)
        self._environ = environ
        self._program = program or command()
        self._process: ScanProcess | None = None
        self._listener = Listener()
        self._look: Look | None = None
        self._attempts = 0
        self._place = ""
        self._linger = QTimer(self)
        self._linger.setSingleShot(True)
        self._linger.setInterval(LINGER_MS)
        self._linger.timeout.connect(self.leave)
        self._begun = QTimer(self)
        self._begun.setSingleShot(True)
        self._begun.timeout.connect(self._ask)

    @property
    def pid(self) -> int | None:
        """Of the process, None when there is none."""
        return self._process.pid if self._process is not None else None

    def begin(self, wishes: Wishes, checked: Sequence[Checked], *, parts: bool) -> None:
        """See `Surveyor`. A process is started in a later turn of the event loop."""
        self._look = Look(wishes=wishes, checked=tuple(checked), parts=parts)
        self._attempts = 0
        self._linger.stop()
        self._begun.start(0)

    def leave(self) -> None:
        """Nobody needs the process for now."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def stop(self) -> None:
        """See `Surveyor`."""
        self._look = None
        self._linger.stop()
        self._begun.stop()
        process, self._process = self._process, None
        if process is not None:
            process.shutdown()

    def _ask(self) -> None:
        if self._look is None:
            return
        self._attempts += 1
        self._place = ""
        if self._process is None:
            self._listener = Listener()
            process = self._process = ScanProcess(self._program, self._environ(), self)
            process.told.connect(self._take)
            process.ended.connect(self._ended)
            process.ask(self._setup, self._look)
        else:
            self._process.ask(self._look)

    def _take(self, event: Event) -> None:
        if isinstance(event, Looking):
            self._place = event.name
            return
        try:
            result = self._listener.take(event)
        except BrokenFrameError as error:
            self.leave()
            self._lost("nonsense", str(error))
            return
        if result is None or self._look is None:
            return
        if isinstance(event, Found) and event.last:
            self._look = None
            self._linger.start()
            self.finished.emit(result)
        else:
            self.found.emit(result)

    def _ended(self, how: str, log: str) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()
        self._lost(how, log)

    def _lost(self, how: str, log: str) -> None:
        if self._look is None:
            return
        if self._attempts < ATTEMPTS:
            self._begun.start(0)
            return
        self._look = None
        self.failed.emit(_failure(self._place, how, log))


def _failure(place: str, how: str, log: str) -> VrambleError:
    where = f"while it looked at {place}" if place else "before it had begun"
    return VrambleError(
        "scan-ended",
        f"The models could not be looked at: the process that does so ended twice {where} ({how}).",
        "F5 looks again; what is shown is as of before.",
        log,
    )
