"""Exports and imports of conversations, off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.chat.database import ChatDatabase
from app.jobs import Err, Result, SerialRunner
from engine.chat.exchanging import Taken
from engine.chat.portable import PortableConversation
from engine.chat.store import Store
from engine.chat_files.exporting import Format as Format
from engine.chat_files.exporting import write, write_each
from engine.chat_files.importing import Imported as Imported
from engine.chat_files.importing import taken_as
from engine.chat_files.sources import conversations_in
from engine.errors import VrambleError

BATCH = 20
"""Conversations that are written at once: messages of the chat go between."""

Exported = Callable[[int | VrambleError], None]


class Exchange(QObject):
    """One export or import at a time.

    Args:
        path: Of the database.
        runner: Where files are read and written.
        reload: Lists all conversations and folders again.

    Attributes:
        changed: `running` or `done` changed.
    """

    changed = Signal()

    def __init__(
        self,
        database: ChatDatabase,
        path: Path,
        runner: SerialRunner,
        reload: Callable[[], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._database, self._path, self.runner, self._reload = database, path, runner, reload
        self._closed = False
        self.running = False
        self.done = 0
        """Conversations of the running import that are written."""

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
        """Take all conversations in files of whichever known program. False: busy."""
        if self.running:
            return False
        self.done = 0
        self._set_running(True)

        def work() -> list[PortableConversation | str]:
            return [given for path in paths for given in conversations_in(path)]

        def read(result: Result[list[PortableConversation | str]]) -> None:
            if isinstance(result, Err):
                self._set_running(False)
                done(_sentence(result.error))
            else:
                self._take(result.value, Imported(), done)

        self.runner.run(work, read)
        return True

    def close(self) -> None:
        """What is being imported ends after the batch that is written."""
        self._closed = True

    def _each(self, store: Store, wanted: Sequence[str]) -> Iterator[PortableConversation]:
        for id_ in wanted:
            if self._closed:
                raise VrambleError("export-file", "The export was given up: the program ends.")
            found = store.whole(id_)
            if found is not None:
                yield found

    def _take(
        self,
        given: list[PortableConversation | str],
        so_far: Imported,
        done: Callable[[Imported | VrambleError], None],
    ) -> None:
        batch, rest = given[:BATCH], given[BATCH:]

        def work(store: Store) -> list[Taken | None]:
            return [None if isinstance(one, str) else store.take(one) for one in batch]

        def taken(result: list[Taken | None] | VrambleError) -> None:
            if isinstance(result, VrambleError):
                self._finish(result, done)
                return
            total = so_far
            for one, what in zip(batch, result, strict=True):
                total = total.plus(taken_as(what, one))
            self.done += len(batch)
            self.changed.emit()
            if rest and not self._closed:
                self._take(rest, total, done)
            else:
                self._finish(total, done)

        self._database.call(work, taken)

    def _finish(self, result: Imported | VrambleError, done: Callable[[Imported | VrambleError], None]) -> None:
        self._set_running(False)
        self._reload()
        done(result)

    def _set_running(self, running: bool) -> None:
        self.running = running
        self.changed.emit()


def _sentence(error: Exception) -> VrambleError:
    if isinstance(error, VrambleError):
        return error
    raise error
