"""Owner of the settings: frozen records, one for each feature, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.jobs import Err, Result, SerialRunner
from app.notices import Notice, Notices, Severity, from_error
from app.settings import fields, file
from app.settings.file import SettingsFile
from engine.errors import VrambleError

T = TypeVar("T", bound=msgspec.Struct)

UNSAVED_NOTICE = "settings-unsaved"
FILE_NOTICE = "settings-file"


class SettingsStore(QObject):
    """Gives out and takes settings records (``class ChatSettings(msgspec.Struct, frozen=True)``, all with defaults).

    The file is read when the store is made, before there is a window that could wait for it;
    every save runs on ``runner``. Values of the file that do not fit their field, and keys that
    nobody declared, stay in the file as they are.

    Attributes:
        changed: Name of the feature whose record changed (``chat`` for ``ChatSettings``).
    """

    changed = Signal(str)

    def __init__(self, path: Path, runner: SerialRunner, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._runner = runner
        self._notices = notices
        self._file: SettingsFile = file.read(path)
        self._records: dict[type[msgspec.Struct], msgspec.Struct] = {}
        self._changes: dict[str, dict[str, Any]] = {}
        self._latest = 0
        self._told = False
        if self._file.remark is not None:
            QTimer.singleShot(0, self, self._tell_remark)

    @property
    def path(self) -> Path:
        """The file, for those who change it by hand."""
        return self._path

    def get(self, feature: type[T]) -> T:
        """The present record of ``feature``."""
        record = self._records.get(feature)
        if not isinstance(record, feature):
            record = fields.decode(feature, self._file.document.get(fields.feature_name(feature)))
            self._records[feature] = record
        return record

    def put(self, record: msgspec.Struct) -> None:
        """Take ``record`` and save what is different in it."""
        feature = type(record)
        changed = fields.changes(self.get(feature), record)
        if not changed:
            return
        self._records[feature] = record
        name = fields.feature_name(feature)
        self._changes[name] = {**self._changes.get(name, {}), **changed}
        if self._file.writable:
            self._save()
        self.changed.emit(name)

    def _save(self) -> None:
        """Each save holds all changes of this run, so that one which waits can be left out for a later one."""
        self._latest += 1
        number, path, document = self._latest, self._path, self._file.document
        changed = {name: dict(values) for name, values in self._changes.items()}

        def work() -> bool:
            if number != self._latest:
                return False
            file.update(path, lambda present: fields.merged(present, changed), document)
            return True

        self._runner.run(work, self._saved)

    def _saved(self, result: Result[bool]) -> None:
        if isinstance(result, Err):
            if not isinstance(result.error, OSError):
                raise result.error
            self._tell_unsaved(result.error)
        elif result.value and self._told:
            self._told = False
            self._notices.withdraw(UNSAVED_NOTICE)

    def _tell_unsaved(self, error: OSError) -> None:
        if self._told:
            return
        self._told = True
        failure = VrambleError(
            "settings-unsaved",
            f"The settings cannot be saved: {error.strerror or error}.",
            f"Changes last until the window closes. The file is {self._path}.",
            str(error),
        )
        self._notices.post(from_error(UNSAVED_NOTICE, failure))

    def _tell_remark(self) -> None:
        remark = self._file.remark
        if remark is not None:
            self._notices.post(Notice(FILE_NOTICE, Severity.WARN, remark.sentence, remark.detail))
