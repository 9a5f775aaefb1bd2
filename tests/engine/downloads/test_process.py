"""The download child as a process: killed, orphaned, out of room."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.downloads.client import died, events
from engine.downloads.launch import command, environment
from engine.downloads.messages import Event, Failed, Fetch, Listed, ListRepo, Progress, encode
from engine.downloads.partial import part_path, read_record, record_path
from tests.engine.downloads.conftest import FILE, QUICK, REPO, content, fail, fetch_request, finish, leave_part, sha256
from tests.fakes.local_hub import BLOCK, LocalHub

MARK = 200_000


def until(condition: Callable[[], bool], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.fixture
def start() -> Iterator[Callable[[Fetch], subprocess.Popen[bytes]]]:
    children: list[subprocess.Popen[bytes]] = []

    def run(request: Fetch) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
        )
        children.append(child)
        assert child.stdin
        child.stdin.write(encode(request))
        child.stdin.flush()
        return child

    yield run
    for child in children:
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            assert pipe
            pipe.close()


def paused_in_the_middle(hub: LocalHub, models: Path) -> Path:
    hub.add(REPO, FILE, content(), pause_after=MARK)
    return models / REPO / FILE


@pytest.mark.parametrize("end", ["kill", "term", "orphan"])
def test_what_is_here_survives_and_is_not_fetched_twice(
    hub: LocalHub, tmp_path: Path, start: Callable[[Fetch], subprocess.Popen[bytes]], end: str
) -> None:
    target = paused_in_the_middle(hub, tmp_path)
    patient = type(QUICK)(stall_s=60)
    child = start(fetch_request(tmp_path, limits=patient))
    until(lambda: part_path(target).exists() and part_path(target).stat().st_size == MARK)
    if end == "kill":
        child.kill()
    elif end == "term":
        child.send_signal(signal.SIGTERM)
    else:
        assert child.stdin
        child.stdin.close()
    child.wait(timeout=60)

    kept = part_path(target).stat().st_size
    record = read_record(record_path(target))
    assert kept == MARK
    assert record is not None
    assert record.size == 300_000
    hub.release()
    assert finish(fetch_request(tmp_path)).sha256 == sha256(target)
    assert hub.requests("GET")[-1].range == f"bytes={kept}-"
    assert hub.sent[FILE] <= 300_000 + 2 * BLOCK


def test_one_at_a_time(hub: LocalHub, tmp_path: Path, start: Callable[[Fetch], subprocess.Popen[bytes]]) -> None:
    target = paused_in_the_middle(hub, tmp_path)
    start(fetch_request(tmp_path, limits=type(QUICK)(stall_s=60)))
    until(lambda: part_path(target).exists() and part_path(target).stat().st_size == MARK)
    assert fail(fetch_request(tmp_path)).code == "already-downloading"
    assert part_path(target).stat().st_size == MARK


def test_a_parent_that_stops_reading_ends_the_child(hub: LocalHub, tmp_path: Path) -> None:
    paused_in_the_middle(hub, tmp_path)
    stream = events(fetch_request(tmp_path, limits=type(QUICK)(stall_s=60)))
    next(stream)
    before = time.monotonic()
    stream.close()  # type: ignore[attr-defined]
    assert time.monotonic() - before < 60, "the child was waited for until it gave up"


def test_listing_goes_through_the_child_too(hub: LocalHub) -> None:
    hub.add(REPO, FILE, content(1000))
    (listed,) = list(events(ListRepo(text=f"{hub.url}/{REPO}/blob/main/{FILE}")))
    assert isinstance(listed, Listed)
    assert listed.listing.repo == REPO
    assert listed.listing.wanted == FILE
    assert [(file.path, file.size) for file in listed.listing.files] == [(FILE, 1000)]


def test_a_request_that_makes_no_sense_is_answered() -> None:
    done = subprocess.run(command(), input=b"nonsense\n", capture_output=True, env=environment(), check=False)
    assert done.returncode == 2
    assert b'"bad-request"' in done.stdout


def test_a_child_that_ends_before_it_reads_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is larger than a pipe holds, so writing it meets the end of the child."""
    monkeypatch.setattr("engine.downloads.client.command", lambda: ["sh", "-c", "exec 0<&-; echo no room >&2; exit 3"])
    (last,) = list(events(ListRepo(text="x" * 1_000_000)))
    assert isinstance(last, Failed)
    assert (last.code, last.detail) == ("download-died", "no room\n")
    assert "exit code 3" in last.message


def test_a_child_without_result_is_a_failure_with_its_last_words() -> None:
    failure = died(-signal.SIGSEGV, b"x" * 5000 + b"last words")
    assert "signal 11" in failure.message
    assert failure.detail.endswith("last words")


def test_a_models_folder_that_is_gone_is_not_made_again(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000))
    card = tmp_path / "card" / "models"
    assert fail(fetch_request(card, create_root=False)).code == "folder-missing"
    assert not card.parent.exists()


def test_a_folder_that_cannot_be_written_is_one_sentence(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000))
    (tmp_path / "maker").write_text("a file in the way")
    assert fail(fetch_request(tmp_path)).code == "write-failed"


def test_too_little_room_is_refused_with_both_numbers(hub: LocalHub, tmp_path: Path) -> None:
    from engine.library.listing import FilePart

    hub.add(REPO, FILE, content(1000), told_size=1 << 55)
    known = fail(fetch_request(tmp_path, files=(FilePart(path=FILE, size=1 << 55),)))
    unknown = fail(fetch_request(tmp_path))
    for failure in (known, unknown):
        assert failure.code == "no-space"
        assert "are needed" in failure.message
        assert "are free" in failure.message
    assert hub.requests("GET") == []


@pytest.fixture
def small_files() -> Iterator[None]:
    """Children cannot write files of more than 150,000 bytes, as on a file system with such a limit."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
def test_a_file_system_that_cannot_hold_the_file(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content())
    assert fail(fetch_request(tmp_path)).code == "file-too-big"
    assert part_path(tmp_path / REPO / FILE).stat().st_size == 150_000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 800 kB, where that can be made."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=800k", "none", place], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("mounting needs rights that this run does not have")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_resuming_needs_room_for_the_rest_only(hub: LocalHub, small_disk: Path) -> None:
    file = hub.add(REPO, FILE, content(700_000))
    leave_part(small_disk, FILE, file.data[:400_000], etag=file.sha256, size=700_000)
    filler = small_disk / "filler"
    filler.write_bytes(bytes(200_000))
    refused = fail(fetch_request(small_disk))
    assert refused.code == "no-space"
    assert "300 kB" in refused.message
    filler.unlink()
    assert finish(fetch_request(small_disk)).sha256 == file.sha256


def test_a_disk_that_fills_up_meanwhile_is_a_sentence(hub: LocalHub, small_disk: Path) -> None:
    hub.add(REPO, FILE, content(700_000), pause_after=100_000)
    taken = False
    last: Event | None = None
    for last in events(fetch_request(small_disk, limits=type(QUICK)(stall_s=60, reserve=1, report_s=0))):
        if isinstance(last, Progress) and last.done == 100_000 and not taken:
            taken = True
            (small_disk / "filler").write_bytes(bytes(300_000))
            hub.release()
    assert isinstance(last, Failed)
    assert last.code == "no-space"
    assert last.next_step
    assert part_path(small_disk / REPO / FILE).stat().st_size >= 100_000


def test_the_environment_switches_the_other_transfer_off() -> None:
    env = environment({"PATH": "/bin", "PYTHONPATH": "/somewhere"})
    assert env["HF_HUB_DISABLE_XET"] == "1"
    assert env["PYTHONPATH"].split(os.pathsep)[1] == "/somewhere"
    assert env["PATH"] == "/bin"


@pytest.mark.slow
def test_killed_again_and_again(
    hub: LocalHub, tmp_path: Path, start: Callable[[Fetch], subprocess.Popen[bytes]]
) -> None:
    rng = random.Random(5)
    file = hub.add(REPO, FILE, content(4_000_000), bytes_per_s=1_200_000)  # two rounds of 1.2 s cannot be enough
    kills = 0
    while not (tmp_path / REPO / FILE).exists() and kills < 30:
        child = start(fetch_request(tmp_path))
        try:
            child.wait(timeout=0.6 + rng.random() * 0.6)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            kills += 1
    file.bytes_per_s = None
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert kills >= 2
    assert hub.sent[FILE] - 4_000_000 <= kills * 1_000_000
