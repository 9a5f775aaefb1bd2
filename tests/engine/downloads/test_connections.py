"""Several connections for one file, and all that can happen to them. In-process, with small pieces."""

from __future__ import annotations

import os
import random
import time
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.downloads import lanes, one_file, plan
from engine.downloads.blocks import BLOCK, Blocks
from engine.downloads.main import answer
from engine.downloads.messages import Event, Fetched, Progress, Waiting
from engine.downloads.part_file import Partial
from engine.downloads.partial import (
    MAPPED,
    PartRecord,
    map_path,
    part_path,
    read_blocks,
    read_record,
    record_path,
    write_record,
)
from tests.engine.downloads import conftest
from tests.engine.downloads.conftest import FILE, QUICK, REPO, content, fetch_request, folder, notes, sha256
from tests.engine.downloads.conftest import run_here as run
from tests.fakes.local_hub import HubFile, LocalHub, Refusal

SIZE = 12 * BLOCK + 1234
PATIENT = msgspec.structs.replace(QUICK, stall_s=60)
finish, fail = partial(conftest.finish, run=run), partial(conftest.fail, run=run)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(one_file, "PER_CONNECTION", BLOCK)
    monkeypatch.setattr(plan, "SMALLEST", BLOCK)
    monkeypatch.setattr(plan, "LARGEST", 2 * BLOCK)


@pytest.fixture(scope="module")
def data() -> bytes:
    return content(SIZE)


def ranges(hub: LocalHub) -> list[tuple[int, int]]:
    found = []
    for entry in hub.requests("GET", FILE):
        assert entry.range is not None
        start, end = entry.range.removeprefix("bytes=").split("-")
        found.append((int(start), int(end) + 1))
    return sorted(found)


@pytest.mark.parametrize("storage", [False, True])
def test_the_file_comes_in_pieces_each_once(hub: LocalHub, tmp_path: Path, data: bytes, storage: bool) -> None:
    file = hub.add(REPO, FILE, data, storage=storage)
    events: list[Event] = run(fetch_request(tmp_path, connections=4))
    done = events[-1]
    assert isinstance(done, Fetched)
    assert (done.sha256, sha256(folder(tmp_path) / FILE)) == (file.sha256, file.sha256)
    if not storage:
        assert len(ranges(hub)) >= 6
    assert hub.sent[FILE] == SIZE
    progress = [event for event in events if isinstance(event, Progress) and event.stage == "loading"]
    assert max(event.connections for event in progress) <= 4


def test_others_come_when_the_first_connection_has_brought_something(
    hub: LocalHub, tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing more comes of any of them until there are two."""
    monkeypatch.setattr(lanes, "LIVELY", 50_000)
    monkeypatch.setattr(lanes, "BUSY", 2.0)
    file = hub.add(REPO, FILE, data, pause_after=100_000)

    def report(event: Event) -> None:
        if isinstance(event, Progress) and event.connections > 1:
            hub.release()

    done = answer(fetch_request(tmp_path, connections=4, limits=PATIENT), report)
    assert isinstance(done, Fetched)
    assert done.sha256 == file.sha256


def test_a_connection_that_the_processor_holds_up_stays_alone(
    hub: LocalHub, tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lanes, "LIVELY", 50_000)
    monkeypatch.setattr(lanes, "BUSY", -1.0)
    file = hub.add(REPO, FILE, data)
    events = run(fetch_request(tmp_path, connections=4))
    assert isinstance(events[-1], Fetched)
    assert events[-1].sha256 == file.sha256
    assert {event.connections for event in events if isinstance(event, Progress)} <= {0, 1}


def test_a_small_file_gets_one_connection(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(BLOCK - 1))
    finish(fetch_request(tmp_path, connections=4))
    assert [entry.range for entry in hub.requests("GET", FILE)] == [None]


def test_a_server_without_ranges_is_asked_for_the_whole_file(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, ignore_range=True)
    events = run(fetch_request(tmp_path, connections=4))
    assert isinstance(events[-1], Fetched)
    assert events[-1].sha256 == file.sha256
    assert notes(events)
    assert hub.requests("GET")[-1].range is None


def test_ranges_that_begin_elsewhere_are_not_believed(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, range_shift=7)
    assert finish(fetch_request(tmp_path, connections=3)).sha256 == file.sha256


def test_connections_that_break_are_made_again(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, cut_after=300_000)
    assert finish(fetch_request(tmp_path, connections=4)).sha256 == file.sha256
    assert hub.sent[FILE] == SIZE


def test_too_many_connections_are_taken_back(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    """What refuses the third one serves all of the file to the others."""
    file = hub.add(REPO, FILE, data)
    file.body_refusal = Refusal(429, times=3)
    events = run(fetch_request(tmp_path, connections=4))
    assert isinstance(events[-1], Fetched)
    assert len([event for event in events if isinstance(event, Waiting)]) <= 3
    assert hub.sent[FILE] == SIZE


def test_a_wait_is_the_last_thing_that_is_told_until_it_is_over(
    hub: LocalHub, tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Progress that stands still would hide it."""
    file = hub.add(REPO, FILE, data, body_refusal=Refusal(429, headers={"Retry-After": "42"}, times=1))
    events: list[Event] = []
    told: list[tuple[Event, int]] = []

    def sleep(_alarm: object, _seconds: float) -> None:
        before = len(events)
        time.sleep(0.2)
        told.append((events[before - 1], len(events) - before))

    monkeypatch.setattr("engine.downloads.patience.Alarm.sleep", sleep)
    done = answer(fetch_request(tmp_path), events.append)
    assert isinstance(done, Fetched)
    assert done.sha256 == file.sha256
    assert told == [(Waiting(seconds=42.0, reason="The Hub gets too many requests from this address."), 0)]


def test_a_refusal_that_stays_ends_it(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    hub.add(REPO, FILE, data, body_refusal=Refusal(403))
    assert fail(fetch_request(tmp_path, connections=4)).code == "hub-forbidden"


def test_a_signed_address_that_ran_out_is_asked_for_anew(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, storage=True)
    file.storage_refusal = Refusal(403, times=0)
    finish(fetch_request(tmp_path, connections=2))
    asked = len(hub.requests("GET", server="hub"))
    assert asked < len(hub.requests("GET", server="storage")), "the address is remembered"

    class Worn(Refusal):
        """Each address serves two ranges."""

        def take(self) -> bool:
            self.times = (self.times or 0) + 1
            return self.times % 3 == 0

    other = hub.add(REPO, "other.gguf", data, storage=True, storage_refusal=Worn(403, times=0))
    events = run(fetch_request(tmp_path, "other.gguf", connections=1))
    assert isinstance(events[-1], Fetched)
    assert events[-1].sha256 == other.sha256


# ---- going on


def leave_holes(models: Path, file: HubFile, spans: list[tuple[int, int]], **more: object) -> Path:
    """A partial file with holes, as several connections leave it."""
    target = folder(models) / FILE
    target.parent.mkdir(parents=True, exist_ok=True)
    record = PartRecord(version=MAPPED, repo=REPO, path=FILE, size=SIZE, etag=file.sha256, sha256=file.sha256)
    for name, value in more.items():
        record = type(record)(**{**{f: getattr(record, f) for f in record.__struct_fields__}, name: value})
    write_record(target, record)
    part = Partial(target)
    part.start_over(SIZE)
    for start, end in spans:
        part.write(start, memoryview(file.data)[start:end])
    part.close()
    return target


def test_finished_ranges_are_never_fetched_again(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data)
    have = [(0, BLOCK + 17), (3 * BLOCK, 5 * BLOCK), (9 * BLOCK, 9 * BLOCK + 5)]
    leave_holes(tmp_path, file, have)
    assert finish(fetch_request(tmp_path, connections=3)).sha256 == file.sha256
    assert hub.sent[FILE] == SIZE - sum(end - start for start, end in have)
    for start, end in ranges(hub):
        assert not any(start < stop and begin < end for begin, stop in have)


def test_what_a_disk_changed_meanwhile_is_found_and_fetched(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    """As after a power cut: the map says that blocks are here whose pages were never written."""
    file = hub.add(REPO, FILE, data)
    target = leave_holes(tmp_path, file, [(0, 6 * BLOCK)])
    with part_path(target).open("r+b") as part:
        part.seek(2 * BLOCK + 5)
        part.write(bytes(10))
        part.truncate(5 * BLOCK + 3)
    assert finish(fetch_request(tmp_path, connections=2)).sha256 == file.sha256
    assert hub.sent[FILE] == SIZE - 6 * BLOCK + 2 * BLOCK


def test_a_block_that_was_begun_before_is_checked_as_a_whole(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data)
    target = leave_holes(tmp_path, file, [(0, BLOCK + BLOCK // 2)])
    with part_path(target).open("r+b") as part:
        part.seek(BLOCK + 5)
        part.write(bytes(10))
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert hub.sent[FILE] == SIZE - BLOCK - BLOCK // 2 + BLOCK


def test_if_range_goes_with_each_range(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data)
    leave_holes(tmp_path, file, [(0, BLOCK)], served_etag=f'"{file.tag}"')
    finish(fetch_request(tmp_path, connections=2))
    assert {entry.if_range for entry in hub.requests("GET", FILE)} == {f'"{file.tag}"'}


def test_a_file_that_changed_between_two_runs_starts_over(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    old = hub.add(REPO, FILE, data)
    leave_holes(tmp_path, old, [(0, 4 * BLOCK)], served_etag=f'"{old.tag}"')
    new = hub.add(REPO, FILE, content(SIZE + 5, seed=8))
    events = run(fetch_request(tmp_path, connections=2))
    assert isinstance(events[-1], Fetched)
    assert (events[-1].sha256, events[-1].size) == (new.sha256, SIZE + 5)
    assert any("changed" in note for note in notes(events))


def test_a_file_that_changes_while_it_comes_starts_over(
    hub: LocalHub, tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add(REPO, FILE, data, cut_after=2 * BLOCK, cut_times=1)
    new = content(SIZE - 7, seed=9)

    def change(_seconds: float) -> None:
        hub.add(REPO, FILE, new)

    monkeypatch.setattr("engine.downloads.patience.Alarm.sleep", lambda _self, seconds: change(seconds))
    events = run(fetch_request(tmp_path))
    assert isinstance(events[-1], Fetched)
    assert (folder(tmp_path) / FILE).read_bytes() == new
    assert any("changed" in note for note in notes(events))


def test_servers_that_tag_the_same_file_differently(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    """The Hub says that it is the same file, so what is here is kept and the sha256 decides."""
    file = hub.add(REPO, FILE, data, cut_after=2 * BLOCK, served_tags=("a", "b", "c", "d", "e", "f", "g", "h"))
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert hub.sent[FILE] <= SIZE + 2 * BLOCK


def test_what_an_earlier_version_left_goes_on(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data)
    target = leave_holes(tmp_path, file, [(0, 5 * BLOCK + 9)], version=1)
    map_path(target).unlink()
    assert finish(fetch_request(tmp_path, connections=2)).sha256 == file.sha256
    assert hub.sent[FILE] == SIZE - 5 * BLOCK - 9


@pytest.mark.parametrize("left", [None, b"", b"VRBLOCK1", b"nonsense" * 20])
def test_holes_are_never_taken_for_bytes(hub: LocalHub, tmp_path: Path, data: bytes, left: bytes | None) -> None:
    """A map that is gone or half written says nothing, whatever the length of the file."""
    file = hub.add(REPO, FILE, data)
    target = leave_holes(tmp_path, file, [(0, BLOCK), (9 * BLOCK, 10 * BLOCK)])
    if left is None:
        map_path(target).unlink()
    else:
        map_path(target).write_bytes(left)
    assert finish(fetch_request(tmp_path, connections=2)).sha256 == file.sha256


class Killed(BaseException):
    """As if the process were gone."""


CHANGING = ("ftruncate", "pwrite", "replace", "open")
"""Functions of `os` by which a partial file and its map change."""


def survives(monkeypatch: pytest.MonkeyPatch, target: Path, last: int) -> bool:
    """Open and reset a partial file, with a kill after ``last`` changes; True when it came to the end before that."""
    steps = iter(range(last))

    def step(real: Any, *args: Any) -> Any:
        if (isinstance(args[0], int) or target.name in str(args[0])) and next(steps, None) is None:
            raise Killed
        return real(*args)

    part = None
    with monkeypatch.context() as patch:
        for name in CHANGING:
            patch.setattr(os, name, partial(step, getattr(os, name)))
        try:
            part = Partial(target)
            part.take_up(SIZE, mapped=True)
            part.doubt(SIZE)
            part.start_over(SIZE)
        except Killed:
            return False
        finally:
            if part is not None:
                part.close()
    return True


def test_a_kill_at_each_step_of_opening_leaves_a_map_that_is_right(
    hub: LocalHub, tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = hub.add(REPO, FILE, data)
    for last in range(40):
        target = leave_holes(tmp_path, file, [(0, BLOCK), (9 * BLOCK, 10 * BLOCK)])
        ended = survives(monkeypatch, target, last)
        blocks = read_blocks(map_path(target), SIZE)
        found = part_path(target).read_bytes()
        for start, end in [] if blocks is None else filled_spans(blocks):
            assert found[start:end] == data[start:end]
        if ended:
            assert last > 5, "all of it was tried"
            return
    pytest.fail("it never came to its end")


def filled_spans(blocks: Blocks) -> list[tuple[int, int]]:
    starts = [blocks.span(index)[0] for index in range(len(blocks))]
    return [(start, start + blocks.fill(index)) for index, start in enumerate(starts) if blocks.fill(index)]


def test_the_record_keeps_no_ranges_but_the_map_does(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, cut_after=3 * BLOCK, cut_times=1)
    file.body_refusal = None
    limits = type(QUICK)(retries=0, report_s=0.01, reserve=1)
    fail(fetch_request(tmp_path, limits=limits))
    target = folder(tmp_path) / FILE
    assert read_record(record_path(target)) is not None
    again = run(fetch_request(tmp_path))
    assert isinstance(again[-1], Fetched)
    assert hub.sent[FILE] == SIZE


def test_random_holes(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    rng = random.Random(3)
    file = hub.add(REPO, FILE, data)
    for turn in range(5):
        spans = [
            (index * BLOCK, min(SIZE, index * BLOCK + rng.choice([0, 1, 70_000, BLOCK])))
            for index in range(13)
            if rng.random() < 0.7
        ]
        spans = [(start, end) for start, end in spans if end > start]
        (folder(tmp_path) / FILE).unlink(missing_ok=True)
        leave_holes(tmp_path, file, spans)
        before = hub.sent.get(FILE, 0)
        assert finish(fetch_request(tmp_path, connections=1 + turn % 4)).sha256 == file.sha256
        assert hub.sent.get(FILE, 0) - before == SIZE - sum(end - start for start, end in spans)
