"""Lists folders off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QObject

from app.jobs import Err, Executor, Result, SerialRunner
from engine.folder_list import FolderEntry, FolderList, StartPlace, list_folder, start_places

__all__ = ["FolderEntry", "FolderList", "FolderLook", "StartPlace"]


class FolderLook(QObject):
    """Answers the last question only: who has gone on to another folder does not wait for the one before."""

    def __init__(self, executor: Executor, home: Path, parent: QObject | None = None) -> None:
        """``home``: where looking begins."""
        super().__init__(parent)
        self._runner = SerialRunner(executor, self)
        self._home, self._asked = home, 0

    @property
    def home(self) -> Path:
        """Where looking begins."""
        return self._home

    def look(self, path: Path, done: Callable[[FolderList], None], suffixes: Iterable[str] = (".gguf",)) -> None:
        """``done`` gets the folders in ``path`` and its files that end in one of ``suffixes`` ("": every file)."""
        wanted = tuple(suffixes)
        self._asked += 1
        number = self._asked
        self._runner.run(lambda: list_folder(path, wanted), lambda result: self._tell(number, result, done))

    def places(self, done: Callable[[tuple[StartPlace, ...]], None]) -> None:
        """``done`` gets the home folder, downloads, and the drives that can be taken out."""
        home = self._home

        def finish(result: Result[tuple[StartPlace, ...]]) -> None:
            if isinstance(result, Err):
                raise result.error
            done(result.value)

        self._runner.run(lambda: start_places(home), finish)

    def shutdown(self) -> None:
        """Answer nothing any more."""
        self._runner.close()

    def _tell(self, number: int, result: Result[FolderList], done: Callable[[FolderList], None]) -> None:
        if isinstance(result, Err):
            raise result.error
        if number == self._asked:
            done(result.value)
