"""The real download child against a local Hub."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.downloads.messages import Failed, Fetched, Waiting
from engine.downloads.partial import record_path
from tests.engine.downloads.conftest import (
    FILE,
    QUICK,
    REPO,
    content,
    fail,
    fetch_request,
    finish,
    folder,
    leave_part,
    notes,
    run,
    sha256,
)
from tests.fakes.local_hub import LocalHub, Refusal

pytestmark = pytest.mark.usefixtures("hub")


def test_a_file_arrives_under_its_name_and_checked(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content())
    done = finish(fetch_request(tmp_path))
    target = folder(tmp_path) / FILE
    assert os.fsdecode(done.path) == str(target)
    assert (done.sha256, done.size, done.verified) == (file.sha256, len(file.data), True)
    assert target.read_bytes() == file.data
    assert sorted(path.name for path in folder(tmp_path).iterdir()) == [f".{FILE}.json", FILE]


def test_wrong_bytes_never_become_a_model(hub: LocalHub, tmp_path: Path) -> None:
    data = content()
    file = hub.add(REPO, FILE, data, body=data[:1000] + b"oops" + data[1004:])
    failure = fail(fetch_request(tmp_path))
    assert failure.code == "checksum"
    assert "try again" in failure.next_step.lower()
    assert not (folder(tmp_path) / FILE).exists()
    file.body = None
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert found[-1].sha256 == file.sha256
    assert notes(found) == ["Wrong bytes in 1 MiB were replaced."]


def test_a_body_that_is_always_cut_is_put_together_by_ranges(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), cut_after=100_000)
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert [e.range for e in hub.requests("GET")] == [None, "bytes=100000-", "bytes=200000-"]
    assert hub.sent[FILE] == len(file.data)


def test_waits_for_as_long_as_the_hub_says(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(), refusal=Refusal(429, headers={"Retry-After": "1"}, times=1))
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert [event.seconds for event in found if isinstance(event, Waiting)] == [1.0]
    first, second = hub.requests("HEAD")
    assert second.at - first.at >= 1.0


def test_a_stalled_body_is_given_up_and_taken_up_again(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), pause_after=100_000)
    limits = type(QUICK)(stall_s=0.5, first_wait_s=0.01, retries=5, reserve=1)
    found = run(fetch_request(tmp_path, limits=limits))
    assert isinstance(found[-1], Fetched)
    assert found[-1].sha256 == file.sha256
    reasons = [event.reason for event in found if isinstance(event, Waiting)]
    assert reasons[0].startswith("No data came for")
    assert hub.requests("GET")[1].range == "bytes=100000-"


ACCESS = [
    (Refusal(401, "GatedRepo"), "hub-gated"),
    (Refusal(403, "GatedRepo"), "hub-not-accepted"),
    (Refusal(401, "RepoNotFound"), "hub-no-repo"),
    (Refusal(404, "EntryNotFound"), "hub-no-file"),
    (Refusal(404, "RevisionNotFound"), "hub-no-revision"),
    (Refusal(401, "", "Invalid credentials in Authorization header"), "hub-bad-token"),
]


def test_six_refusals_have_six_answers_and_leave_nothing(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    answers: list[Failed] = []
    for refusal, code in ACCESS:
        hub.add(REPO, FILE, content(1000), refusal=refusal)
        answers.append(fail(fetch_request(tmp_path)))
        assert answers[-1].code == code
    assert len({answer.message for answer in answers}) == len(ACCESS)
    assert "hf_secret" not in repr(answers)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_hub_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    failure = fail(fetch_request(tmp_path))
    assert failure.code == "hub-unreachable"
    assert "127.0.0.1:9" in failure.message


# ---- resuming (cases 56 and 61)


@pytest.mark.parametrize("storage", [False, True])
def test_goes_on_from_the_kept_size(hub: LocalHub, tmp_path: Path, storage: bool) -> None:
    file = hub.add(REPO, FILE, content(), storage=storage)
    served = f'"storage-{file.tag}"' if storage else f'"{file.tag}"'
    target = leave_part(tmp_path, FILE, file.data[:180_000], etag=file.sha256, size=300_000, served=served)
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    entry = hub.requests("GET")[-1]
    assert (entry.range, entry.if_range) == ("bytes=180000-", served)
    assert hub.sent[FILE] == 120_000
    assert not record_path(target).exists()


def test_a_server_that_ignores_ranges_starts_over_in_place(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), ignore_range=True)
    target = leave_part(tmp_path, FILE, file.data[:180_000], etag=file.sha256, size=300_000)
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert notes(found)
    assert (target.stat().st_size, sha256(target)) == (300_000, file.sha256)


def test_a_part_that_is_whole_is_only_checked(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content())
    leave_part(tmp_path, FILE, file.data, etag=file.sha256, size=300_000)
    assert finish(fetch_request(tmp_path)).verified
    assert hub.requests("GET") == []


def test_a_range_that_starts_elsewhere_starts_over(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), range_shift=7)
    target = leave_part(tmp_path, FILE, file.data[:180_000], etag=file.sha256, size=300_000)
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert notes(found)
    assert sha256(target) == file.sha256


def test_a_changed_file_starts_over(hub: LocalHub, tmp_path: Path) -> None:
    old = content(seed=9)
    file = hub.add(REPO, FILE, content(seed=1))
    target = leave_part(tmp_path, FILE, old[:180_000], etag="0" * 64, size=300_000)
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert notes(found)
    assert hub.requests("GET")[-1].range is None
    assert sha256(target) == file.sha256
