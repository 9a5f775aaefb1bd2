"""What every feature stands on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from PySide6.QtCore import QCoreApplication, QObject, QTimer

from app.backup.service import hold_data, restore_waiting, restored_notice
from app.jobs import SerialRunner, ThreadExecutor
from app.notices import Notices
from app.paths import Paths
from app.settings.store import SettingsStore
from app.worker.connection import WorkerConnection
from engine.chat.file_locks import Hold


class Shared(TypedDict):
    """What of the ground the program shows."""

    paths: Paths
    notices: Notices
    settings: SettingsStore
    lifetime: QObject
    files: SerialRunner
    database: SerialRunner


@dataclass(frozen=True)
class Ground:
    """Folders, runners, notices and settings.

    Attributes:
        lifetime: Parent of all services.
        hold: No backup takes the place of conversations and settings meanwhile.
    """

    paths: Paths
    lifetime: QObject
    files: SerialRunner
    database: SerialRunner
    notices: Notices
    settings: SettingsStore
    hold: Hold

    def shared(self) -> Shared:
        """What of it the program shows."""
        return {
            "paths": self.paths,
            "notices": self.notices,
            "settings": self.settings,
            "lifetime": self.lifetime,
            "files": self.files,
            "database": self.database,
        }

    def process(self) -> WorkerConnection:
        """Processes of a worker beside the chat's."""
        return WorkerConnection(self.paths, None, None, self.lifetime, self.settings)


def make_ground(paths: Paths) -> Ground:
    """Runners, notices and settings."""
    lifetime = QObject(QCoreApplication.instance())
    files = SerialRunner(ThreadExecutor("files"), lifetime)
    database = SerialRunner(ThreadExecutor("database"), lifetime)
    notices, hold = Notices(lifetime), hold_data(paths)
    settings = SettingsStore(paths.settings, files, notices, lifetime)
    return Ground(paths, lifetime, files, database, notices, settings, hold)


def make_restored_ground(paths: Paths, *, alone: bool) -> Ground:
    """The same, after a restore that waits has been put in its place: nothing may have opened the folders before."""
    restored = restore_waiting(paths) if alone else None
    ground = make_ground(paths)
    if restored is not None:
        QTimer.singleShot(0, ground.lifetime, lambda: ground.notices.post(restored_notice(restored)))
    return ground
