"""Earlier benchmarks and published figures: read once, off the GUI thread; new reports are added."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.jobs import Err, Executor, Result, SerialRunner

if TYPE_CHECKING:
    from engine.bench.records import Published, Report


class Archive(QObject):
    """The reports, the oldest first.

    Args:
        file: Where they are kept.
        executor: Reads and writes.

    Attributes:
        changed: There are others now.
        unsaved: Why the last report could not be kept, or "".
    """

    changed = Signal()

    def __init__(self, file: Path, executor: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._file = file
        self._runner = SerialRunner(executor, self)
        self._opened = False
        self.reports: tuple[Report, ...] = ()
        self.published: tuple[Published, ...] = ()
        self.unsaved = ""

    @property
    def runner(self) -> SerialRunner:
        """For other work of the benchmarks."""
        return self._runner

    def open(self) -> None:
        """Read what there is, once."""
        if not self._opened:
            self._opened = True
            self._runner.run(self._read, self._have_read)

    def add(self, make: Callable[[], Report], done: Callable[[Report], None]) -> None:
        """Keep the report that ``make`` gives, off the GUI thread, then call ``done`` with it."""

        def work() -> tuple[Report, str]:
            from engine.bench.history import add_to_history

            report = make()
            try:
                add_to_history(self._file, report)
            except OSError as error:
                return report, error.strerror or str(error)
            return report, ""

        def added(result: Result[tuple[Report, str]]) -> None:
            if isinstance(result, Err):
                raise result.error
            report, self.unsaved = result.value
            self.reports = (*self.reports, report)
            done(report)
            self.changed.emit()

        self._runner.run(work, added)

    def beside(self, report: Report) -> tuple[Published, ...]:
        """Published figures that can stand beside ``report``."""
        from engine.bench.published import beside

        places = [variant.place for variant in report.variants if variant.place is not None]
        return beside(self.published, [place.name for place in places], [place.backend for place in places])

    def save(self, path: Path, text: str, done: Callable[[str], None]) -> None:
        """Write an export; ``done`` gets why that failed, or ""."""

        def write() -> str:
            from engine.bench.history import write_text

            try:
                write_text(path, text)
            except OSError as error:
                return error.strerror or str(error)
            return ""

        def written(result: Result[str]) -> None:
            if isinstance(result, Err):
                raise result.error
            done(result.value)

        self._runner.run(write, written)

    def shutdown(self) -> None:
        """Finish what is being written. Only for quitting."""
        self._runner.close()

    def _read(self) -> tuple[tuple[Report, ...], tuple[Published, ...]]:
        from engine.bench.history import read_history
        from engine.bench.published import read_published

        try:
            reports = read_history(self._file)
        except OSError:
            reports = ()
        return reports, read_published()

    def _have_read(self, result: Result[tuple[tuple[Report, ...], tuple[Published, ...]]]) -> None:
        if isinstance(result, Err):
            raise result.error
        reports, self.published = result.value
        self.reports = (*reports, *(report for report in self.reports if report not in reports))
        self.changed.emit()
