"""The queue without processes: order, what is kept, sums, the network's environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.downloads.keeping import Found
from app.downloads.queue import Queue
from app.downloads.records import DownloadJob, JobState, QueueSummary, summary_of
from app.downloads.settings import DownloadSettings, network_environment
from engine.downloads.messages import Failed
from engine.downloads.queue_file import KeptJob, Order, Stand, read, write
from engine.errors import VrambleError
from engine.library.listing import FilePart


def order(name: str = "m.gguf", repo: str = "a/b", root: bytes = b"/models") -> Order:
    return Order(root=root, repo=repo, files=(FilePart(path=name, size=1000),))


def shown(state: JobState, **more: object) -> DownloadJob:
    fields: dict[str, object] = {"id": 1, "repo": "a/b", "file": "m", "target": Path("/m"), "n_files": 1}
    return DownloadJob(state=state, **{**fields, **more})  # type: ignore[arg-type]


def test_what_is_started_meanwhile_comes_after_what_was_left() -> None:
    queue = Queue()
    early = queue.add(order("new.gguf"))
    failed = Failed(code="no-space", message="The disk is full.")
    queue.restore(
        [
            Found(job=KeptJob(order=order("a.gguf"), stand=Stand.PAUSED, total=5), done=3),
            Found(job=KeptJob(order=order("new.gguf"))),
            Found(job=KeptJob(order=order("../evil.gguf"))),
            Found(job=KeptJob(order=order("b.gguf"), stand=Stand.FAILED, error=failed)),
        ]
    )
    jobs = queue.jobs
    assert [job.order.files[0].path for job in jobs] == ["a.gguf", "b.gguf", "new.gguf"]
    assert jobs[2] is early
    assert [(job.state, job.done, job.total) for job in jobs] == [
        (JobState.PAUSED, 3, 5),
        (JobState.FAILED, 0, 1000),
        (JobState.QUEUED, 0, 1000),
    ]
    assert jobs[1].error == failed
    assert len({job.number for job in jobs}) == 3


def test_a_second_order_of_the_same_takes_the_place_of_the_finished_first() -> None:
    queue = Queue()
    first = queue.add(order())
    assert queue.unfinished(order()) is first
    first.state = JobState.DONE
    assert queue.unfinished(order()) is None
    second = queue.add(order())
    assert queue.jobs == (second,)
    assert queue.unfinished(order(root=b"/card")) is None


@pytest.mark.parametrize(("index", "names"), [(0, "cab"), (1, "acb"), (9, "abc"), (-3, "cab")])
def test_moving(index: int, names: str) -> None:
    queue = Queue()
    jobs = [queue.add(order(f"{name}.gguf")) for name in "abc"]
    queue.move(jobs[2], index)
    assert "".join(job.order.files[0].path[0] for job in queue) == names


def test_unsafe_names_are_no_jobs() -> None:
    with pytest.raises(VrambleError):
        Queue().add(order("../evil.gguf"))


def test_the_file_keeps_what_matters(tmp_path: Path) -> None:
    path = tmp_path / "data" / "downloads.json"
    odd = os.fsencode("/mödels") + b"\xff"
    kept = [
        KeptJob(order=order(root=odd), stand=Stand.PAUSED, total=7),
        KeptJob(order=Order(root=b"/x", repo="", files=(FilePart(path="f"),), targets=(odd,), repair=True)),
    ]
    write(path, kept)
    assert read(path) == tuple(kept)
    assert [item.name for item in path.parent.iterdir()] == ["downloads.json"]
    write(tmp_path / "data" / "downloads.json" / "below a file", kept)


@given(st.binary(max_size=200))
def test_any_file_is_a_queue_or_none(data: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        assert isinstance(read(Path(file.name)), tuple)


def test_sums() -> None:
    jobs = [
        shown(JobState.LOADING, done=100, total=1000, speed=90.0),
        shown(JobState.QUEUED, done=0, total=800),
        shown(JobState.PAUSED, done=5, total=10),
        shown(JobState.FAILED),
        shown(JobState.DONE, done=7, total=7),
    ]
    summary = summary_of(jobs)
    assert summary == QueueSummary(active=2, stopped=2, done=100, total=1800, speed=90.0, seconds_left=1700 / 90)
    assert summary.fraction == pytest.approx(100 / 1800)
    unknown = summary_of([*jobs, shown(JobState.CONNECTING)])
    assert (unknown.total, unknown.seconds_left, unknown.fraction) == (None, None, None)
    assert summary_of([]) == QueueSummary()
    assert QueueSummary().fraction is None


def test_settings_reach_the_environment_of_a_child() -> None:
    base = {"PATH": "/bin", "https_proxy": "http://old", "HF_ENDPOINT": "http://old"}
    assert network_environment(DownloadSettings(), base) == base
    env = network_environment(DownloadSettings(endpoint=" https://m ", proxy="http://p:1", offline=True), base)
    assert env == {
        "PATH": "/bin",
        "HF_ENDPOINT": "https://m",
        "HTTP_PROXY": "http://p:1",
        "HTTPS_PROXY": "http://p:1",
        "ALL_PROXY": "http://p:1",
        "HF_HUB_OFFLINE": "1",
    }
