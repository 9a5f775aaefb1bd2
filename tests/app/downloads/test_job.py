"""Speed, time left, and how a job follows its events."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.downloads.job import Job
from app.downloads.records import JobState
from app.downloads.speed import SpeedMeter
from engine.downloads.messages import Failed, Fetched, Note, Progress, Waiting
from engine.downloads.queue_file import Order
from engine.library.listing import FilePart


@pytest.fixture
def job(tmp_path: Path) -> Job:
    order = Order(root=os.fsencode(tmp_path), repo="a/b", files=(FilePart(path="m.gguf", size=1000),))
    return Job(1, order)


def test_speed_is_the_mean_of_the_last_seconds() -> None:
    meter = SpeedMeter(window_s=5)
    assert meter.speed(0) is None
    for second in range(11):
        meter.add(float(second), second * 100 if second <= 5 else 500 + (second - 5) * 200)
    assert meter.speed(10.0) == pytest.approx(200)


def test_speed_falls_when_nothing_comes() -> None:
    meter = SpeedMeter()
    meter.add(0.0, 0)
    meter.add(1.0, 1000)
    assert meter.speed(1.0) == 1000
    assert meter.speed(10.0) == 100


def test_speed_starts_anew_when_the_download_does() -> None:
    meter = SpeedMeter()
    meter.add(0.0, 0)
    meter.add(1.0, 1000)
    meter.add(2.0, 0)
    assert meter.speed(2.0) is None


def test_loading_has_speed_and_time_left(job: Job) -> None:
    for second in range(4):
        job.take(Progress(stage="loading", done=100 * second, total=1000), float(second))
    shot = job.snapshot(3.0)
    assert (shot.state, shot.done, shot.total) == (JobState.LOADING, 300, 1000)
    assert shot.speed == pytest.approx(100)
    assert shot.seconds_left == pytest.approx(7)


def test_bytes_that_were_here_are_no_speed(job: Job) -> None:
    job.take(Progress(stage="checking", done=900, total=1000), 0.0)
    job.take(Progress(stage="loading", done=900, total=1000), 1.0)
    job.take(Progress(stage="loading", done=910, total=1000), 2.0)
    assert job.snapshot(2.0).speed == pytest.approx(10)


def test_waiting_counts_down(job: Job) -> None:
    job.take(Waiting(seconds=7, reason="Too many requests."), 10.0)
    assert [job.snapshot(at).retry_in for at in (10.0, 12.0, 99.0)] == [7, 5, 0]
    assert job.snapshot(10.0).note == "Too many requests."
    job.take(Progress(stage="loading", done=1, total=1000), 17.0)
    assert (job.snapshot(17.0).note, job.snapshot(17.0).retry_in) == ("", None)


def test_a_note_stays_until_the_end(job: Job) -> None:
    job.take(Note(text="Started again."), 0.0)
    job.take(Progress(stage="loading", done=1, total=1000), 1.0)
    assert job.snapshot(1.0).note == "Started again."
    job.take(Fetched(path=b"/m", size=1000, sha256="x", verified=False), 2.0)
    shot = job.snapshot(2.0)
    assert (shot.state, shot.note, shot.verified, shot.done) == (JobState.DONE, "", False, 1000)


def test_a_failure_is_forgotten_by_the_next_try(job: Job) -> None:
    job.take(Failed(code="stalled", message="No data."), 0.0)
    assert job.snapshot(0.0).error == Failed(code="stalled", message="No data.")
    job.reset()
    assert (job.snapshot(0.0).state, job.snapshot(0.0).error) == (JobState.QUEUED, None)
