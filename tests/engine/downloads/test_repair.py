"""Models that are here and damaged: found by reading, and only what is wrong is fetched again."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.downloads.blocks import BLOCK
from engine.downloads.messages import Event, Fetched, Progress
from engine.downloads.partial import part_path, read_record, record_path
from engine.downloads.restore import put_back
from engine.library.listing import FilePart
from engine.library.origin import origin_path, read_origin
from tests.engine.downloads import conftest
from tests.engine.downloads.conftest import FILE, REPO, content, fetch_request, folder, notes, run_here
from tests.fakes.local_hub import COMMIT, HubFile, LocalHub, Refusal

SIZE = 5 * BLOCK + 77
finish, fail = partial(conftest.finish, run=run_here), partial(conftest.fail, run=run_here)


@pytest.fixture(scope="module")
def data() -> bytes:
    return content(SIZE)


@pytest.fixture
def installed(hub: LocalHub, tmp_path: Path, data: bytes) -> tuple[HubFile, Path]:
    file = hub.add(REPO, FILE, data)
    finish(fetch_request(tmp_path))
    hub.sent.clear()
    return file, folder(tmp_path) / FILE


def damage(path: Path, *places: int) -> None:
    with path.open("r+b") as file:
        for place in places:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 255]))


def repair(models: Path, **more: Any) -> list[Event]:
    return run_here(fetch_request(models, repair=True, **more))


def mended(events: list[Event], target: Path, file: HubFile) -> None:
    assert isinstance(events[-1], Fetched), events[-1]
    assert (events[-1].verified, target.read_bytes()) == (True, file.data)
    assert sorted(path.name for path in target.parent.iterdir()) == [f".{FILE}.json", FILE]


def test_what_is_right_is_only_read(installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path) -> None:
    file, target = installed
    mended(repair(tmp_path), target, file)
    assert hub.sent == {}


def test_only_the_wrong_blocks_are_fetched(installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path) -> None:
    file, target = installed
    damage(target, BLOCK + 5, BLOCK + 700_000, SIZE - 1)
    events = repair(tmp_path, connections=2)
    mended(events, target, file)
    assert hub.sent[FILE] == BLOCK + 77
    assert {event.stage for event in events if isinstance(event, Progress)} >= {"checking", "repairing"}
    assert read_origin(target) == read_origin(target)
    hub.sent.clear()
    damage(target, 3 * BLOCK)
    mended(repair(tmp_path), target, file)
    assert hub.sent[FILE] == BLOCK, "its checksums were kept again"


@pytest.mark.parametrize("length", [0, 100, 2 * BLOCK, SIZE - 1, SIZE + 1000])
def test_a_file_that_was_cut_or_grew(
    installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path, length: int
) -> None:
    file, target = installed
    with target.open("r+b") as there:
        there.truncate(length)
    mended(repair(tmp_path), target, file)
    assert hub.sent.get(FILE, 0) <= max(0, SIZE - length // BLOCK * BLOCK) or length > SIZE


def test_without_kept_checksums_all_is_compared_and_only_what_differs_written(
    installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path
) -> None:
    file, target = installed
    origin = read_origin(target)
    assert origin is not None
    origin_path(target).write_bytes(msgspec.json.encode(msgspec.structs.replace(origin, blocks=b"")))
    damage(target, 2 * BLOCK + 1, 4 * BLOCK)
    events = repair(tmp_path)
    mended(events, target, file)
    assert hub.sent[FILE] == SIZE
    assert "Wrong bytes in 2 MiB were replaced." in notes(events)


def test_a_file_of_another_program_without_a_record(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    """Its place and its origin come with the request."""
    file = hub.add(REPO, FILE, data)
    elsewhere = tmp_path / "LM" / "renamed.gguf"
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(data[:-1] + b"\0")
    known = (FilePart(path=FILE, size=SIZE, sha256=file.sha256),)
    events = run_here(
        fetch_request(tmp_path / "models", repair=True, targets=(bytes(elsewhere),), files=known, revision=COMMIT)
    )
    assert isinstance(events[-1], Fetched)
    assert elsewhere.read_bytes() == data
    assert not (tmp_path / "models" / REPO).exists()


def test_a_link_to_another_programs_file_is_left_alone(
    installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path
) -> None:
    _, target = installed
    damage(target, 5)
    real = tmp_path / "blob"
    target.rename(real)
    target.symlink_to(real)
    before = real.read_bytes()
    assert fail(fetch_request(tmp_path, repair=True)).code == "linked-file"
    assert (real.read_bytes(), target.is_symlink()) == (before, True)


def test_a_repair_that_was_broken_off_goes_on(installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path) -> None:
    file, target = installed
    damage(target, 5, 3 * BLOCK)
    file.body_refusal = Refusal(403)
    assert fail(fetch_request(tmp_path, repair=True)).code == "hub-forbidden"
    assert not target.exists(), "what is damaged is offered to nobody"
    file.body_refusal = None
    mended(repair(tmp_path), target, file)
    assert hub.sent[FILE] == 2 * BLOCK


def test_a_repair_that_is_given_up_leaves_the_file_as_it_was(
    installed: tuple[HubFile, Path], hub: LocalHub, tmp_path: Path
) -> None:
    file, target = installed
    damage(target, 5)
    before = target.read_bytes()
    file.body_refusal = Refusal(403)
    fail(fetch_request(tmp_path, repair=True))
    assert part_path(target).exists()
    put_back([target])
    assert target.read_bytes() == before
    assert sorted(path.name for path in target.parent.iterdir()) == [f".{FILE}.json", FILE]


# ---- bytes that came wrong over the network


def test_bytes_that_arrived_wrong_are_replaced_by_the_next_try(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, body=data[: 2 * BLOCK] + b"oops" + data[2 * BLOCK + 4 :])
    first = fail(fetch_request(tmp_path))
    assert (first.code, "once more" in first.next_step) == ("checksum", True)
    record = read_record(record_path(folder(tmp_path) / FILE))
    assert record is not None
    assert record.suspect
    file.body = None
    events = run_here(fetch_request(tmp_path))
    mended(events, folder(tmp_path) / FILE, file)
    assert notes(events)[-1] == "Wrong bytes in 1 MiB were replaced."


def test_a_server_that_always_sends_the_same_wrong_bytes(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    hub.add(REPO, FILE, data, body=data[:-4] + b"oops")
    assert fail(fetch_request(tmp_path)).code == "checksum"
    again = fail(fetch_request(tmp_path))
    assert again.code == "checksum"
    assert "each time" in again.message
    assert not (folder(tmp_path) / FILE).exists()
    assert fail(fetch_request(tmp_path)).code == "checksum", "and it can be tried again"


def test_a_comparison_that_is_killed_goes_on_as_a_download(hub: LocalHub, tmp_path: Path, data: bytes) -> None:
    file = hub.add(REPO, FILE, data, body=data[:-4] + b"oops")
    fail(fetch_request(tmp_path))
    file.body, file.cut_after, file.body_refusal = None, 2 * BLOCK, None
    limits = type(conftest.QUICK)(retries=0, report_s=0.01, reserve=1)
    hub.sent.clear()
    fail(fetch_request(tmp_path, limits=limits))
    file.cut_after = None
    mended(run_here(fetch_request(tmp_path)), folder(tmp_path) / FILE, file)
    assert hub.sent[FILE] == SIZE
