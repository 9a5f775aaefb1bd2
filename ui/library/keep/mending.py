"""What is done about files that are damaged, incomplete, in pieces, twice here, or old."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from app.downloads.service import DownloadService
from app.library.service import InstalledModel, LibraryService
from engine.errors import VrambleError
from engine.library.records import Mend, ModelUpdate
from ui.library.message_slot import MessageSlot


class Mending(QObject):
    """Turns the buttons that mend into calls.

    Attributes:
        started: A download or a repair began.
    """

    started = Signal()

    def __init__(
        self, library: LibraryService, downloads: DownloadService, messages: MessageSlot, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._library, self._downloads, self._messages = library, downloads, messages

    def mend(self, model: InstalledModel, how: Mend) -> None:
        """Do what the button says."""
        self._messages.clear()
        if how is Mend.REPAIR:
            self._begin(lambda: self._library.repair(model))
        elif how is Mend.DOWNLOAD and model.repo and model.file:
            repo, file = model.repo, model.file
            self._begin(lambda: self._downloads.start(repo, file))
        elif how is Mend.JOIN:
            self._call(lambda: self._library.join(model))
        elif how is Mend.SHARE:
            self._call(lambda: self._library.share(model))
        elif how is Mend.INSERT:
            self._library.rescan()

    def move(self, model: InstalledModel, root_id: str) -> None:
        """Bring the model to another folder."""
        self._call(lambda: self._library.move(model, root_id))

    def get_newer(self, update: ModelUpdate) -> None:
        """Fetch the newer file; it takes the place of the old one when it is whole and right."""
        self._begin(lambda: self._downloads.start(update.repo, update.file))

    def _begin(self, run: Callable[[], object]) -> None:
        if self._call(run):
            self.started.emit()

    def _call(self, run: Callable[[], object]) -> bool:
        """Whether it was begun."""
        try:
            run()
        except VrambleError as error:
            self._messages.show_error(error)
            return False
        return True
