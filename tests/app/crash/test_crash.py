"""A bug becomes one notice with a report; the hooks are given back."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, qCritical, qInstallMessageHandler, qWarning
from pytestqt.qtbot import QtBot

from app.crash import CrashReporter, report_text
from app.notices import Notice, Notices, Severity
from engine.errors import VrambleError


class Heard(QObject):
    """Collects notices."""

    def __init__(self, notices: Notices) -> None:
        super().__init__()
        self.notices: list[Notice] = []
        notices.posted.connect(self.notices.append)


@pytest.fixture
def heard(tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Iterator[Heard]:
    notices = Notices()
    reporter = CrashReporter(notices, tmp_path / "logs" / "crash.log")
    reporter.install()
    yield Heard(notices)
    reporter.remove()


def test_an_uncaught_error_is_told_with_a_report(
    heard: Heard, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        raise ValueError(f"broken in {Path.home()}/secret")
    except ValueError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    qtbot.waitUntil(lambda: bool(heard.notices))
    (notice,) = heard.notices
    assert notice.severity is Severity.ERROR
    assert "ValueError: broken in ~/secret" in notice.detail
    assert str(Path.home()) not in notice.detail
    assert "Python" in notice.detail
    assert "ValueError" in capsys.readouterr().err


def test_an_error_of_another_thread_arrives_on_this_one(heard: Heard, qtbot: QtBot) -> None:
    heard_notices = heard.notices

    def fail() -> None:
        raise RuntimeError("from a thread")

    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    assert heard_notices == []
    qtbot.waitUntil(lambda: bool(heard_notices))
    assert "from a thread" in heard_notices[0].detail


def test_a_failure_with_a_sentence_is_told_as_such(heard: Heard, qtbot: QtBot) -> None:
    error = VrambleError("disk-full", "The disk is full.", "Free some space.")
    sys.excepthook(VrambleError, error, None)
    qtbot.waitUntil(lambda: bool(heard.notices))
    assert heard.notices[0].text == "The disk is full. Free some space."


def test_qt_warnings_are_written_and_critical_ones_told(
    heard: Heard, qtbot: QtBot, capsys: pytest.CaptureFixture[str]
) -> None:
    qWarning("only a warning")
    qCritical("really bad")
    qtbot.waitUntil(lambda: bool(heard.notices))
    assert ["really bad" in n.detail for n in heard.notices] == [True]
    written = capsys.readouterr().err
    assert "only a warning" in written
    assert "really bad" in written


def test_hooks_are_given_back(tmp_path: Path, qtbot: QtBot) -> None:
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    handler = qInstallMessageHandler(None)
    qInstallMessageHandler(handler)
    reporter = CrashReporter(Notices(), tmp_path / "crash.log")
    reporter.install()
    reporter.install()
    assert sys.excepthook != before[0]
    reporter.remove()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before


def test_the_log_of_an_earlier_crash_is_kept(tmp_path: Path, qtbot: QtBot) -> None:
    """Who restarts after a crash must still have its stacks for a report."""
    log = tmp_path / "crash.log"
    log.write_text("Fatal Python error: Segmentation fault\n")
    reporter = CrashReporter(Notices(), log)
    reporter.install()
    reporter.remove()
    assert log.read_text() == "Fatal Python error: Segmentation fault\n"


def test_an_unwritable_log_is_no_obstacle(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("")
    reporter = CrashReporter(Notices(), tmp_path / "file" / "crash.log")
    reporter.install()
    reporter.remove()


def test_the_report_names_no_home(tmp_path: Path) -> None:
    text = report_text(f"File {tmp_path}/x.py", tmp_path)
    assert "~/x.py" in text
    assert str(tmp_path) not in text
