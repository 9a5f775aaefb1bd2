"""Keeps the computer from suspending by itself while something is downloaded."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QObject, Signal

from app.jobs import Ok, Result, SerialRunner

WHY = "A model is being downloaded"


class Inhibits(Protocol):
    """`engine.power.awake.Inhibitor`, or a stand-in."""

    def hold(self, why: str) -> str: ...
    def release(self) -> None: ...


class KeepAwake(QObject):
    """Without an inhibitor, and where no service of the desktop does it, nothing happens.

    Args:
        inhibitor: Asks the desktop, on ``runner``.

    Attributes:
        changed: `by` is another one.
    """

    changed = Signal()

    def __init__(self, inhibitor: Inhibits | None, runner: SerialRunner | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._inhibitor = inhibitor
        self._runner = runner
        self._wanted = False
        self._by = ""

    @property
    def by(self) -> str:
        """The service that keeps the computer awake now; empty: none does."""
        return self._by

    def set_wanted(self, wanted: bool) -> None:
        """Keep the computer awake from now on, or let it sleep again. Returns at once."""
        inhibitor, runner = self._inhibitor, self._runner
        if wanted == self._wanted or inhibitor is None or runner is None:
            return
        self._wanted = wanted
        if wanted:
            runner.run(lambda: inhibitor.hold(WHY), self._held)
        else:
            runner.run(inhibitor.release, lambda _result: self._tell(""))

    def shutdown(self) -> None:
        """Let it sleep. Only for quitting."""
        self.set_wanted(False)
        if self._runner is not None:
            self._runner.close()

    def _held(self, result: Result[str]) -> None:
        self._tell(result.value if isinstance(result, Ok) else "")

    def _tell(self, by: str) -> None:
        if by != self._by:
            self._by = by
            self.changed.emit()
