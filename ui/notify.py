"""Tells the user what has ended while nobody looked: by the desktop, and in the main window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QGuiApplication

from app.desktop.service import DEFAULT_ACTION, Desktop, Note
from app.downloads.records import DownloadJob, JobState
from app.downloads.service import DownloadService
from app.notices import Action, Notice, Notices, Severity
from engine.library.listing import KINDS
from engine.library.names import base_stem


def somebody_looks() -> bool:
    """A window of the program has the keyboard."""
    return QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive


def is_model(name: str) -> bool:
    """Whether a file of this name can be loaded by itself."""
    return not any(pattern.search(base_stem(name)) for _, pattern in KINDS)


class Notifier(QObject):
    """Notifications for those who are elsewhere.

    Args:
        looked_at: Whether a window of the program is looked at.
    """

    def __init__(
        self, desktop: Desktop, looked_at: Callable[[], bool] = somebody_looks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._desktop, self._looked_at = desktop, looked_at
        self._answers: dict[str, Callable[[str], None]] = {}
        desktop.pressed.connect(self._pressed)

    def tell(self, note: Note, pressed: Callable[[str], None]) -> bool:
        """Show ``note`` unless somebody looks; ``pressed`` gets the name of the action. Whether it was shown."""
        if self._looked_at():
            return False
        self._answers[note.key] = pressed
        self._desktop.notify(note)
        return True

    def withdraw(self, key: str) -> None:
        """Take it away."""
        self._answers.pop(key, None)
        self._desktop.withdraw(key)

    def _pressed(self, key: str, action: str) -> None:
        answer = self._answers.pop(key, None)
        if answer is not None:
            answer(action)


class DownloadTeller(QObject):
    """Says when a download has ended, and draws the progress of all at the icon in the task bar.

    Args:
        show: Brings the models window to the front, with the downloads.
        load: Loads the model at a path.
        seen: Whether the downloads are on the screen, so that nothing has to be said.
    """

    def __init__(
        self,
        downloads: DownloadService,
        desktop: Desktop,
        notices: Notices,
        show: Callable[[], None],
        load: Callable[[Path], None],
        seen: Callable[[], bool] = lambda: False,
        parent: QObject | None = None,
        notifier: Notifier | None = None,
    ) -> None:
        super().__init__(parent)
        self._downloads, self._desktop, self._notices = downloads, desktop, notices
        self._show, self._load, self._seen = show, load, seen
        self._notifier = notifier or Notifier(desktop, parent=self)
        downloads.finished.connect(self._ended)
        downloads.jobs_changed.connect(self._draw)

    def _draw(self) -> None:
        summary = self._downloads.summary
        self._desktop.show_progress(summary.fraction, summary.active)

    def _ended(self, job: DownloadJob) -> None:
        key = f"download-{job.id}"
        if job.state is JobState.DONE:
            title = self.tr("Repaired") if job.repair else self.tr("Downloaded")
            self._say(key, title, job.target.name, job if is_model(job.target.name) else None)
        elif job.state is JobState.FAILED and job.error is not None:
            name, why = job.target.name, job.error.message
            self._say(key, self.tr("Download stopped"), why if name in why else f"{name}: {why}", None)

    def _say(self, key: str, title: str, text: str, done: DownloadJob | None) -> None:
        load = ("load", self.tr("Load"))
        actions = ((DEFAULT_ACTION, self.tr("Show")), *((load,) if done is not None else ()))
        told = self._notifier.tell(
            Note(key=key, title=title, text=text, actions=actions), lambda action: self._pressed(action, done)
        )
        if told or self._seen():
            return
        buttons = [Action(self.tr("Show downloads"), self._show)]
        if done is not None:
            path = done.target
            buttons.insert(0, Action(self.tr("Load"), lambda: self._load(path)))
        self._notices.post(Notice(key, Severity.INFO, f"{title}: {text}", actions=tuple(buttons), timeout_ms=20_000))

    def _pressed(self, action: str, done: DownloadJob | None) -> None:
        if action == "load" and done is not None:
            self._load(done.target)
        else:
            self._show()
