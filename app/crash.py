"""Bugs: caught wherever they surface, written down, and told with a report the user can copy.

Failures with a sentence for the user (`engine.errors.VrambleError`) that nobody caught are told as what they are.
"""

from __future__ import annotations

import faulthandler
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QMessageLogContext, QObject, Qt, QtMsgType, Signal, qInstallMessageHandler, qVersion

from app.notices import Notice, Notices, Severity, from_error
from engine.errors import VrambleError
from engine.version import program_version

NOTICE = "bug"
SENTENCE = "Something went wrong inside Vramble. Your conversations are kept. The details can be copied into a report."
MOST_REPORTS = 20
"""Reports of one run that are written to stderr in full; an endless loop of bugs must not fill the disk."""


def report_text(what: str, home: Path) -> str:
    """A report without the user's name: versions, system, then ``what``."""
    lines = (
        f"Vramble {program_version()}, Python {platform.python_version()}, Qt {qVersion()}",
        f"{platform.system()} {platform.release()} {platform.machine()}",
        "",
        what.strip(),
    )
    return "\n".join(lines).replace(str(home), "~")


class CrashReporter(QObject):
    """Owns the last-resort hooks of the process between `install` and `remove`.

    Args:
        notices: Where bugs are told.
        log: File that a crash in native code adds its stacks to; its folder is made.
    """

    _caught = Signal(object, str)

    def __init__(self, notices: Notices, log: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._notices, self._log = notices, log
        self._count = 0
        self._restore: list[Callable[[], object]] = []
        self._caught.connect(self._tell, Qt.ConnectionType.QueuedConnection)

    def install(self) -> None:
        """Set every hook; a second call changes nothing."""
        if self._restore:
            return
        old_except, old_thread, old_raise = sys.excepthook, threading.excepthook, sys.unraisablehook
        sys.excepthook = self._exception
        threading.excepthook = lambda args: self._exception(
            args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
        )
        sys.unraisablehook = lambda args: self._exception(
            args.exc_type, args.exc_value or args.exc_type(), args.exc_traceback
        )
        old_handler = qInstallMessageHandler(self._message)
        self._restore = [
            lambda: setattr(sys, "excepthook", old_except),
            lambda: setattr(threading, "excepthook", old_thread),
            lambda: setattr(sys, "unraisablehook", old_raise),
            lambda: qInstallMessageHandler(old_handler),
        ]
        self._watch_native_code()

    def remove(self) -> None:
        """Put the hooks back that were there before."""
        for restore in self._restore:
            restore()
        self._restore = []

    def _watch_native_code(self) -> None:
        before = faulthandler.is_enabled()
        try:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            file = self._log.open("a", encoding="utf-8")
        except OSError:
            return
        faulthandler.enable(file)
        self._restore += [_default_faults if before else faulthandler.disable, file.close]

    def _exception(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        self._write(text)
        self._caught.emit(error, text)

    def _message(self, kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
        self._write(f"Qt: {message}\n")
        if kind in (QtMsgType.QtCriticalMsg, QtMsgType.QtFatalMsg):
            self._caught.emit(None, f"Qt: {message}")

    def _write(self, text: str) -> None:
        self._count += 1
        if self._count <= MOST_REPORTS and sys.stderr is not None:
            sys.stderr.write(text if text.endswith("\n") else text + "\n")
            sys.stderr.flush()

    def _tell(self, error: BaseException | None, text: str) -> None:
        if isinstance(error, VrambleError):
            self._notices.post(from_error(NOTICE, error))
            return
        self._notices.post(Notice(NOTICE, Severity.ERROR, SENTENCE, report_text(text, Path.home())))


def _default_faults() -> None:
    if sys.__stderr__ is not None:
        faulthandler.enable(sys.__stderr__)
