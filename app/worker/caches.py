"""What is kept of the KV caches of conversations: how much, where, and that it goes with the conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject

from app.jobs import SerialRunner
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.settings import WorkerSettings
from engine.kv_files.names import forget, sweep
from engine.protocol.caching import MIB, CachePolicy

FOLDER: Final = "kv"


def caches_folder(paths: Paths) -> Path:
    """Where the files lie."""
    return paths.cache / FOLDER


class ConversationCaches(QObject):
    """Budgets for the worker, and the end of what belongs to deleted conversations.

    Args:
        settings: None: the defaults of the engine, and no files.
        runner: Deletes files; None: nothing is deleted.
        tell: Hands the names of conversations to the running worker, if there is one.
    """

    def __init__(
        self,
        paths: Paths,
        settings: SettingsStore | None,
        runner: SerialRunner | None,
        tell: Callable[[Sequence[str]], None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._folder = caches_folder(paths)
        self._settings, self._runner, self._tell = settings, runner, tell

    def policy(self) -> CachePolicy:
        """What the next load is told."""
        if self._settings is None:
            return CachePolicy()
        wanted = self._settings.get(WorkerSettings)
        return CachePolicy(
            memory=wanted.cache_memory_mib * MIB, disk=wanted.cache_disk_mib * MIB, folder=str(self._folder)
        )

    def forget(self, conversations: Sequence[str]) -> None:
        """These conversations were deleted for good: nothing of them stays in the worker or on the disk."""
        gone, folder = tuple(conversations), self._folder
        if not gone:
            return
        self._tell(gone)
        if self._runner is not None:
            self._runner.run(lambda: forget(folder, gone))

    def keep_only(self, conversations: Sequence[str]) -> None:
        """All conversations that there are: files of others are what an earlier run could not delete."""
        there, folder = tuple(conversations), self._folder
        if self._runner is not None:
            self._runner.run(lambda: sweep(folder, there))
