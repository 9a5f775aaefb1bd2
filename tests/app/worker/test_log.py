"""The worker's log on disk, written off the GUI thread."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from app.jobs import SerialRunner
from app.worker.log import WAITING_LINES, WorkerLog


class HandCranked:
    """Runs what was queued when told."""

    def __init__(self) -> None:
        self.queue: list[Callable[[], None]] = []

    def submit(self, work: Callable[[], None]) -> None:
        self.queue.append(work)

    def close(self) -> None:
        self.crank()

    def crank(self) -> None:
        while self.queue:
            self.queue.pop(0)()


@pytest.fixture
def executor(qapp) -> HandCranked:
    return HandCranked()


def test_lines_wait_and_are_written_together(executor, tmp_path: Path, qtbot) -> None:
    file = tmp_path / "logs" / "worker.log"
    log = WorkerLog(file, SerialRunner(executor))
    log.feed(b"one\ntw")
    log.feed(b"o\nunfinished")
    assert executor.queue == []
    log.flush()
    assert not file.exists(), "nothing is written on this thread"
    executor.crank()
    assert file.read_text() == "one\ntwo\n"
    log.flush()
    assert executor.queue == []
    assert log.text() == "one\ntwo\nunfinished"


def test_a_new_process_begins_with_an_empty_tail_but_the_same_file(executor, tmp_path: Path) -> None:
    log = WorkerLog(tmp_path / "worker.log", SerialRunner(executor))
    log.feed(b"first process\n")
    log.begin()
    log.feed(b"second process\n")
    log.flush()
    executor.crank()
    assert log.text() == "second process"
    assert (tmp_path / "worker.log").read_text() == "first process\nsecond process\n"


def test_a_disk_that_cannot_be_written_disturbs_nobody(executor, tmp_path: Path, qtbot) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    log = WorkerLog(tmp_path / "logs" / "worker.log", SerialRunner(executor))
    log.feed(b"one\n")
    log.flush()
    with qtbot.captureExceptions() as errors:
        executor.crank()
        qtbot.wait(10)
    assert errors == []
    assert log.text() == "one"


def test_a_flood_keeps_its_end(executor, tmp_path: Path) -> None:
    log = WorkerLog(tmp_path / "worker.log", SerialRunner(executor))
    log.feed(b"".join(b"%d\n" % number for number in range(WAITING_LINES + 10)))
    log.flush()
    executor.crank()
    lines = (tmp_path / "worker.log").read_text().splitlines()
    assert (lines[0], len(lines)) == ("10", WAITING_LINES)


def test_without_a_runner_nothing_is_written(qapp, tmp_path: Path) -> None:
    log = WorkerLog(tmp_path / "worker.log", None)
    log.feed(b"one\n")
    log.flush()
    assert list(tmp_path.iterdir()) == []
