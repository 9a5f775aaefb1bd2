"""Whether somebody looks: memory is sampled by that, and models are looked for when the user comes back."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.library.service import LibraryService
from app.memory.service import MemoryService


class Watching(QObject):
    """Follows the main window and the application.

    Args:
        page_looked_at: Whether the memory page is seen.
    """

    def __init__(
        self, window: QWidget, memory: MemoryService, library: LibraryService, page_looked_at: Callable[[], bool]
    ) -> None:
        super().__init__(window)
        self._window, self._memory, self._library, self._page_looked_at = window, memory, library, page_looked_at
        self._ended = False
        window.installEventFilter(self)
        application = QGuiApplication.instance()
        if isinstance(application, QGuiApplication):
            application.applicationStateChanged.connect(self._application_changed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Shown, hidden, minimised and back: nothing is taken from the window."""
        kind = event.type()
        if kind in (QEvent.Type.Show, QEvent.Type.Hide):
            self._memory.set_watched(kind is QEvent.Type.Show)
        elif kind is QEvent.Type.WindowStateChange:
            self.look()
        return False

    def look(self) -> None:
        """Memory is sampled less often while only a minimised window would show it."""
        self._memory.set_hidden(self._window.isMinimized() and not self._page_looked_at())

    def end(self) -> None:
        """The program closes: nothing is looked for any more."""
        self._ended = True

    def _application_changed(self, state: Qt.ApplicationState) -> None:
        """The user comes back from another program, where models may have been fetched or deleted."""
        if state is Qt.ApplicationState.ApplicationActive and not (self._ended or self._library.scanning):
            self._library.rescan()
