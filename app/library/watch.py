"""Hears of changes in the folders of models and of drives that come and go."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QElapsedTimer, QObject, QSocketNotifier, QTimer, Signal

from app.jobs import SerialRunner
from engine.library.inotify import FolderWatch, MountWatch

log = logging.getLogger(__name__)

QUIET_MS = 700
"""So long nothing may happen before it is told."""
LATEST_MS = 5000
"""So long it is put off at most."""


class LibraryWatch(QObject):
    """Tells of many changes once, when they have settled. Costs nothing while nothing happens.

    Attributes:
        changed: Models may have come, gone or changed.
    """

    changed = Signal()

    def __init__(self, runner: SerialRunner, parent: QObject | None = None) -> None:
        """``runner`` sets the watches: a slow drive must not hold up the window."""
        super().__init__(parent)
        self._runner = runner
        self._folders: FolderWatch | None = None
        self._mounts: MountWatch | None = None
        self._notifiers: list[QSocketNotifier] = []
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.changed)
        self._first = QElapsedTimer()
        try:
            self._folders = FolderWatch()
            self._listen(self._folders.handle, QSocketNotifier.Type.Read).activated.connect(self._read)
            self._mounts = MountWatch()
            self._listen(self._mounts.handle, QSocketNotifier.Type.Exception).activated.connect(self._soon)
        except OSError as error:
            log.info("changes of folders are not heard of: %s", error)

    def _listen(self, handle: int, kind: QSocketNotifier.Type) -> QSocketNotifier:
        notifier = QSocketNotifier(handle, kind, self)
        self._notifiers.append(notifier)
        return notifier

    def follow(self, folders: Sequence[Path]) -> None:
        """Watch these folders and no others."""
        watch = self._folders
        if watch is not None:
            self._runner.run(lambda: watch.watch(folders))

    def close(self) -> None:
        """Hear of nothing any more. Call it when ``runner`` is done."""
        self._timer.stop()
        for notifier in self._notifiers:
            notifier.setEnabled(False)
        for watch in (self._folders, self._mounts):
            if watch is not None:
                watch.close()
        self._folders = self._mounts = None

    def _read(self) -> None:
        if self._folders is not None and self._folders.read():
            self._soon()

    def _soon(self) -> None:
        """Later, when it is quiet, but not for ever."""
        if not self._timer.isActive():
            self._first.start()
        left = LATEST_MS - self._first.elapsed()
        self._timer.start(max(0, min(QUIET_MS, left)))
