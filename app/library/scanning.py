"""Looking at all folders of the library, one look after the other, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, Signal

from app.library.surveyor import Surveyor
from engine.library.records import InstalledModel, ScanResult
from engine.library.scan import Checked
from engine.library.survey import Wishes


class Scanning(QObject):
    """Has the surveyor look. While the first look goes on, what each folder brings is told at once.

    Attributes:
        found: A `ScanResult`.
        completed: The number of a look that has ended.
        failed: The same number, and the exception that ended it.
        busy_changed: A look began or ended.
    """

    found = Signal(object)
    completed = Signal(int)
    failed = Signal(int, object)
    busy_changed = Signal(bool)

    def __init__(self, surveyor: Surveyor, wishes: Callable[[], Wishes], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._surveyor = surveyor
        self._wishes = wishes
        self._checked: list[Checked] = []
        self._taken = 0
        self._again = False
        self._busy = False
        self._number = 0
        self._first = True
        self._told: tuple[InstalledModel, ...] = ()
        self._stopped = False
        surveyor.found.connect(self._part_found)
        surveyor.finished.connect(self._finished)
        surveyor.failed.connect(self._failed)

    @property
    def busy(self) -> bool:
        """A look is going on."""
        return self._busy

    def start(self) -> int:
        """Begin one; while one goes on, another follows it. Gives the number of the one that begins after now."""
        if self._busy or self._stopped:
            self._again = True
            return self._number + 1
        self._busy = True
        self.busy_changed.emit(True)
        self._begin()
        return self._number

    def remember(self, checked: Iterable[Checked]) -> None:
        """Files were hashed: the next look takes it over."""
        self._checked += checked

    def stop(self) -> None:
        """Begin none any more, and end the one that goes on."""
        self._stopped = True
        self._surveyor.stop()

    def _begin(self) -> None:
        self._again = False
        self._number += 1
        self._taken = len(self._checked)
        self._surveyor.begin(self._wishes(), tuple(self._checked), parts=self._first)

    def _part_found(self, found: ScanResult) -> None:
        if found.models != self._told:
            self._told = found.models
            self.found.emit(found)

    def _finished(self, found: ScanResult) -> None:
        self._first = False
        del self._checked[: self._taken]
        number = self._number
        self.found.emit(found)
        self.completed.emit(number)
        self._rest()

    def _failed(self, error: Exception) -> None:
        number = self._number
        self._rest()
        self.failed.emit(number, error)

    def _rest(self) -> None:
        if self._again and not self._stopped:
            self._begin()
            return
        self._busy = False
        self.busy_changed.emit(False)
