"""Exports and imports of conversations: on another thread, and in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.import_child import ImportChild
from app.jobs import Err, Result, SerialRunner
from engine.chat.portable import PortableConversation
from engine.chat.store import Store
from engine.chat_files.exporting import Format as Format
from engine.chat_files.exporting import write, write_each
from engine.chat_files.importing import Imported as Imported
from engine.chat_files.importing import Progress as Progress
from engine.errors import VrambleError

Exported = Callable[[int | VrambleError], None]


class Exchange(QObject):
    """One export or import at a time.

    Args:
        path: Of the database.
        runner: Where exports are written.
        reload: Lists all conversations and folders again, and clears away what an import left that did not end well.

    Attributes:
        changed: `running`, `importing` or `progress` changed.
        progress: Of the running import.
    """

    changed = Signal()

    def __init__(
        self,
        path: Path,
        runner: SerialRunner,
        reload: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._path, self.runner, self._reload = path, runner, reload
        self._child: ImportChild | None = None
        self._closed = False
        self.running = False
        self.progress = Progress(0, 0)

    @property
    def importing(self) -> bool:
        """An import runs."""
        return self._child is not None

    def export(self, conversations: Sequence[str], path: Path, form: Format, *, each: bool, done: Exported) -> bool:
        """Write conversations (none named: all) to ``path``; ``each``: a zip with a file for each. False: busy."""
        if self.running:
            return False
        self._set_running(True)
        writer = write_each if each else write

        def work() -> int:
            with Store.reader(self._path) as store:
                wanted = list(conversations) or store.every_id()
                return writer(self._each(store, wanted), path, form)

        def finished(result: Result[int]) -> None:
            self._set_running(False)
            done(result.value if not isinstance(result, Err) else _sentence(result.error))

        self.runner.run(work, finished)
        return True

    def import_files(self, paths: Sequence[Path], done: Callable[[Imported | VrambleError], None]) -> bool:
        """Take all conversations in files of whichever known program, or none. False: busy."""
        if self.running:
            return False
        self.progress = Progress(0, 0)
        child = self._child = ImportChild(self._path, paths, self)
        child.moved.connect(self._move)
        child.ended.connect(lambda result: self._end(child, result, done))
        self._set_running(True)
        child.start()
        return True

    def cancel(self) -> None:
        """Stop the running import: nothing of it stays."""
        if self._child is not None:
            self._child.kill()

    def close(self) -> None:
        """What is being exported or imported is given up."""
        self._closed = True
        self.cancel()

    def _each(self, store: Store, wanted: Sequence[str]) -> Iterator[PortableConversation]:
        for id_ in wanted:
            if self._closed:
                raise VrambleError("export-file", "The export was given up: the program ends.")
            found = store.whole(id_)
            if found is not None:
                yield found

    def _move(self, progress: Progress) -> None:
        self.progress = progress
        self.changed.emit()

    def _end(
        self, child: ImportChild, result: Imported | VrambleError, done: Callable[[Imported | VrambleError], None]
    ) -> None:
        self._child = None
        child.deleteLater()
        self._set_running(False)
        if not self._closed:
            self._reload()
            done(result)

    def _set_running(self, running: bool) -> None:
        self.running = running
        self.changed.emit()


def _sentence(error: Exception) -> VrambleError:
    if isinstance(error, VrambleError):
        return error
    raise error
