"""The download service with real children and a local Hub."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.downloads.service import DownloadJob, DownloadService, JobState, RepoListing
from app.downloads.ticker import Ticker
from app.jobs import ThreadExecutor
from engine.errors import VrambleError
from tests.app.downloads.conftest import QUICK, job_of
from tests.engine.downloads.conftest import FILE, REPO, content, sha256
from tests.fakes.local_hub import LocalHub, Refusal

MARK = 100_000
Until = Callable[[Callable[[], bool]], None]


@pytest.fixture
def until(qtbot) -> Until:
    return lambda condition: qtbot.waitUntil(condition, timeout=60_000)


def state_of(service: DownloadService, number: int) -> JobState | None:
    job = job_of(service, number)
    return job.state if job else None


def files(models: Path) -> list[str]:
    found = [Path(folder) / name for folder, _, names in os.walk(models) for name in names]
    return sorted(str(path.relative_to(models)) for path in found)


def paused(hub: LocalHub, service: DownloadService, until: Until, name: str = FILE) -> int:
    """A download that stands still after 100,000 bytes."""
    hub.add(REPO, name, content(), pause_after=MARK)
    number = service.start(REPO, name)
    until(lambda: (job := job_of(service, number)) is not None and job.done == MARK)
    return number


def test_a_download_to_the_end(downloads: DownloadService, hub: LocalHub, models: Path, until: Until) -> None:
    file = hub.add(REPO, FILE, content())
    ended: list[DownloadJob] = []
    downloads.finished.connect(lambda job: ended.append(job))
    number = downloads.start(REPO, FILE)
    assert state_of(downloads, number) in (JobState.QUEUED, JobState.CONNECTING)
    until(lambda: state_of(downloads, number) is JobState.DONE)
    (job,) = ended
    assert (job.id, job.state, job.verified, job.done) == (number, JobState.DONE, True, 300_000)
    assert job.target == models / REPO / FILE
    assert sha256(job.target) == file.sha256
    downloads.dismiss(number)
    assert downloads.jobs == ()


def test_listing(downloads: DownloadService, hub: LocalHub, until: Until) -> None:
    found: list[RepoListing | VrambleError] = []
    downloads.listed.connect(lambda answer: found.append(answer))
    hub.add(REPO, FILE, content(1000))
    downloads.list_files("no/where")
    downloads.list_files(REPO)
    until(lambda: bool(found))
    assert [type(answer) for answer in found] == [RepoListing]
    assert not downloads.listing
    downloads.list_files("no/where")
    until(lambda: len(found) == 2)
    assert isinstance(found[1], VrambleError)
    assert found[1].code == "hub-no-repo"


def test_a_set_from_the_listing_comes_whole(
    downloads: DownloadService, hub: LocalHub, models: Path, until: Until
) -> None:
    names = [f"big-{no:05d}-of-00002.gguf" for no in (1, 2)]
    for no, name in enumerate(names):
        hub.add(REPO, name, content(1000, no))
    downloads.list_files(REPO)
    until(lambda: not downloads.listing)
    number = downloads.start(REPO, names[0])
    until(lambda: state_of(downloads, number) is JobState.DONE)
    job = job_of(downloads, number)
    assert job is not None
    assert (job.n_files, job.total) == (2, 2000)
    assert [name for name in files(models) if name.endswith(".gguf")] == [f"{REPO}/{name}" for name in names]


def test_a_failure_can_be_tried_again(downloads: DownloadService, hub: LocalHub, models: Path, until: Until) -> None:
    file = hub.add(REPO, FILE, content(), refusal=Refusal(401, "GatedRepo"))
    number = downloads.start(REPO, FILE)
    until(lambda: state_of(downloads, number) is JobState.FAILED)
    job = job_of(downloads, number)
    assert job is not None
    assert job.error is not None
    assert (job.error.code, bool(job.error.next_step)) == ("hub-gated", True)
    file.refusal = None
    downloads.retry(number)
    until(lambda: state_of(downloads, number) is JobState.DONE)


def test_a_wrong_checksum_is_no_model_and_is_mended(
    downloads: DownloadService, hub: LocalHub, models: Path, until: Until
) -> None:
    data = content()
    file = hub.add(REPO, FILE, data, body=data[:-4] + b"oops")
    number = downloads.start(REPO, FILE)
    until(lambda: state_of(downloads, number) is JobState.FAILED)
    job = job_of(downloads, number)
    assert job is not None
    assert job.error is not None
    assert (job.error.code, job.done) == ("checksum", 0)
    assert not [name for name in files(models) if name.endswith(".gguf")]
    file.body = None
    downloads.retry(number)
    until(lambda: state_of(downloads, number) is JobState.DONE)
    assert sha256(models / REPO / FILE) == file.sha256


def test_cancel_acts_at_once_and_leaves_nothing(
    downloads: DownloadService, hub: LocalHub, models: Path, until: Until
) -> None:
    number = paused(hub, downloads, until)
    assert files(models)
    downloads.cancel(number)
    until(lambda: downloads.jobs == ())
    until(lambda: files(models) == [])
    until(lambda: not (models / "maker").exists())


def test_what_cannot_be_deleted_is_shown_again_with_the_reason(
    downloads: DownloadService, hub: LocalHub, models: Path, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    number = paused(hub, downloads, until)
    with monkeypatch.context() as patch:
        patch.setattr("app.downloads.keeping.discard", refuse)
        downloads.cancel(number)
        until(lambda: [job.state for job in downloads.jobs] == [JobState.FAILED])
    (job,) = downloads.jobs
    assert job.error is not None
    assert job.error.message == f"What was downloaded of {FILE} could not be deleted: Permission denied."
    downloads.cancel(number)
    assert downloads.jobs == ()
    until(lambda: not (models / "maker").exists())


def test_cancel_and_start_again_at_once(downloads: DownloadService, hub: LocalHub, models: Path, until: Until) -> None:
    number = paused(hub, downloads, until)
    downloads.cancel(number)
    hub.release()
    again = downloads.start(REPO, FILE)
    assert again != number
    until(lambda: state_of(downloads, again) is JobState.DONE)
    assert hub.requests("GET")[-1].range is None


def test_the_same_file_is_not_downloaded_twice(downloads: DownloadService, hub: LocalHub, until: Until) -> None:
    number = paused(hub, downloads, until)
    assert downloads.start(REPO, FILE) == number
    assert len(downloads.jobs) == 1


def test_a_third_download_waits_for_its_turn(downloads: DownloadService, hub: LocalHub, until: Until) -> None:
    first = paused(hub, downloads, until, "a.gguf")
    second = paused(hub, downloads, until, "b.gguf")
    hub.add(REPO, "c.gguf", content(1000))
    third = downloads.start(REPO, "c.gguf")
    until(lambda: state_of(downloads, third) is JobState.QUEUED)
    assert hub.requests("HEAD", "c.gguf") == []
    downloads.cancel(first)
    until(lambda: state_of(downloads, third) is JobState.DONE)
    assert state_of(downloads, second) is JobState.LOADING


def test_what_a_quit_interrupts_is_there_at_the_next_start(
    downloads: DownloadService, hub: LocalHub, models: Path, until: Until, qtbot
) -> None:
    paused(hub, downloads, until)
    downloads.shutdown()
    kept = (models / REPO / f"{FILE}.part").stat().st_size
    assert kept == MARK
    hub.release()
    later = DownloadService(models, ThreadExecutor("later"), downloads, limits=QUICK)
    until(lambda: bool(later.jobs))
    (job,) = later.jobs
    assert (job.state, job.done, job.total, job.repo, job.file) == (JobState.INTERRUPTED, MARK, 300_000, REPO, FILE)
    later.retry(job.id)
    until(lambda: state_of(later, job.id) is JobState.DONE)
    assert hub.requests("GET")[-1].range == f"bytes={MARK}-"
    later.shutdown()


def test_a_child_that_is_killed_is_a_failure_that_resumes(
    downloads: DownloadService, hub: LocalHub, until: Until
) -> None:
    number = paused(hub, downloads, until)
    _kill_children(downloads)
    until(lambda: state_of(downloads, number) is JobState.FAILED)
    job = job_of(downloads, number)
    assert job is not None
    assert job.error is not None
    assert job.error.code == "download-died"
    assert "signal 9" in job.error.message
    hub.release()
    downloads.retry(number)
    until(lambda: state_of(downloads, number) is JobState.DONE)
    assert hub.requests("GET")[-1].range == f"bytes={MARK}-"


def _kill_children(parent: QObject) -> None:
    from PySide6.QtCore import QProcess

    for process in parent.findChildren(QProcess):
        process.kill()


def test_shutdown_leaves_no_child(downloads: DownloadService, hub: LocalHub, until: Until) -> None:
    import psutil

    paused(hub, downloads, until)
    downloads.list_files(REPO)
    children = [child for child in psutil.Process().children() if "engine.downloads" in " ".join(child.cmdline())]
    assert children
    downloads.shutdown()
    assert not [child for child in children if child.is_running()]


def test_changes_are_told_at_once_and_then_when_the_timer_says(qapp: QApplication) -> None:
    owner = QObject()
    told: list[bool] = []
    ticker = Ticker(lambda: False, owner)
    ticker.told.connect(lambda: told.append(ticker._timer.isActive()))
    for _ in range(5):
        ticker.publish()
    assert (told, ticker._timer.interval()) == ([True], 250)
    ticker._tick()
    assert told == [True, True]
    ticker._tick()
    assert told == [True, True]
    ticker.stop()
    ticker.publish()
    assert (told, ticker._timer.isActive()) == ([True, True], False)


def test_a_name_that_is_not_safe_starts_nothing(downloads: DownloadService) -> None:
    with pytest.raises(VrambleError):
        downloads.start(REPO, "../evil.gguf")
    assert downloads.jobs == ()


def test_the_window_process_never_loads_the_hub_client() -> None:
    code = (
        "import sys, app.downloads.service, app.library.service, app.downloads.commands, app.library.commands\n"
        "print([name for name in ('huggingface_hub', 'httpx2', 'httpx', 'llama_cpp') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
