"""The real download child against a local Hub."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.downloads.messages import Failed, Fetched, Progress, Waiting
from engine.downloads.partial import part_path, read_record, record_path
from engine.library.listing import FilePart
from tests.engine.downloads.conftest import FILE, QUICK, REPO, content, fail, fetch_request, finish, notes, run, sha256
from tests.fakes.local_hub import COMMIT, LocalHub, Refusal

pytestmark = pytest.mark.usefixtures("hub")


def folder(models: Path) -> Path:
    return models / REPO


def leave_part(models: Path, file: str, data: bytes, *, etag: str, size: int, served: str | None = None) -> Path:
    """A partial file as an interrupted download leaves it."""
    from engine.downloads.partial import PartRecord, write_record

    target = folder(models) / file
    target.parent.mkdir(parents=True, exist_ok=True)
    part_path(target).write_bytes(data)
    record = PartRecord(repo=REPO, path=file, size=size, etag=etag, sha256=etag, served_etag=served)
    write_record(target, record)
    return target


def test_a_file_arrives_under_its_name_and_checked(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content())
    done = finish(fetch_request(tmp_path))
    target = folder(tmp_path) / FILE
    assert os.fsdecode(done.path) == str(target)
    assert (done.sha256, done.size, done.verified) == (file.sha256, len(file.data), True)
    assert target.read_bytes() == file.data
    assert sorted(path.name for path in folder(tmp_path).iterdir()) == [f".{FILE}.json", FILE]


def test_progress_grows_to_the_whole(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content())
    progress = [
        e for e in run(fetch_request(tmp_path, files=(FilePart(path=FILE, size=300_000),))) if isinstance(e, Progress)
    ]
    assert [e.done for e in progress] == sorted(e.done for e in progress)
    assert progress[-1] == Progress(stage="loading", done=300_000, total=300_000)


def test_the_token_stays_with_the_hub(hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    hub.add(REPO, FILE, content(), storage=True)
    finish(fetch_request(tmp_path))
    assert [entry.authorization for entry in hub.requests("GET", server="storage")] == [False]
    assert all(entry.authorization for entry in hub.log if entry.server == "hub")


def test_a_renamed_repository_is_followed(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add("maker/new-GGUF", FILE, content())
    hub.renamed[REPO] = "maker/new-GGUF"
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256


def test_a_file_that_is_there_is_not_fetched_again(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content())
    finish(fetch_request(tmp_path))
    assert finish(fetch_request(tmp_path)).verified
    assert len(hub.requests("GET")) == 1


def test_a_newer_file_replaces_the_old_one(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(seed=1))
    finish(fetch_request(tmp_path))
    new = hub.add(REPO, FILE, content(seed=2))
    assert finish(fetch_request(tmp_path)).sha256 == new.sha256
    assert sha256(folder(tmp_path) / FILE) == new.sha256


def test_wrong_bytes_never_become_a_model(hub: LocalHub, tmp_path: Path) -> None:
    data = content()
    file = hub.add(REPO, FILE, data, body=data[:1000] + b"oops" + data[1004:])
    failure = fail(fetch_request(tmp_path))
    assert failure.code == "checksum"
    assert "try again" in failure.next_step.lower()
    assert list(folder(tmp_path).iterdir()) == []
    file.body = None
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert hub.requests("GET")[-1].range is None


def test_a_body_that_is_always_cut_is_put_together_by_ranges(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), cut_after=100_000)
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    assert [e.range for e in hub.requests("GET")] == [None, "bytes=100000-", "bytes=200000-"]
    assert hub.sent[FILE] == len(file.data)


def test_cut_for_ever_without_ranges_ends_in_a_sentence(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(), cut_after=100_000, ignore_range=True)
    failure = fail(fetch_request(tmp_path))
    assert failure.code in {"broken-off", "keeps-changing"}
    assert failure.next_step
    assert not (folder(tmp_path) / FILE).exists()


def test_a_body_without_length_counts_by_its_checksum(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), announce_length=False)
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256
    hub.add(REPO, "cut.gguf", content(), announce_length=False, cut_after=1000, cut_times=1, ignore_range=True)
    assert finish(fetch_request(tmp_path, "cut.gguf")).sha256 == file.sha256


def test_waits_for_as_long_as_the_hub_says(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(), refusal=Refusal(429, headers={"Retry-After": "1"}, times=1))
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert [event.seconds for event in found if isinstance(event, Waiting)] == [1.0]
    first, second = hub.requests("HEAD")
    assert second.at - first.at >= 1.0


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_trouble_of_the_server_passes(hub: LocalHub, tmp_path: Path, status: int) -> None:
    file = hub.add(REPO, FILE, content(1000), body_refusal=Refusal(status, times=2))
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256


def test_trouble_that_stays_is_said(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000), refusal=Refusal(503))
    assert fail(fetch_request(tmp_path)).code == "hub-server"


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


@pytest.mark.parametrize("name", ["../x.gguf", "/etc/x.gguf", "a/../../x.gguf", "a\\x.gguf", ".x.gguf", "x\x00.gguf"])
def test_names_that_lead_elsewhere_are_refused_before_any_request(hub: LocalHub, tmp_path: Path, name: str) -> None:
    assert fail(fetch_request(tmp_path / "models", name)).code == "unsafe-name"
    assert hub.log == []


def test_same_name_in_two_repositories_and_folders(hub: LocalHub, tmp_path: Path) -> None:
    places = [("a/x-GGUF", "m.gguf"), ("b/x-GGUF", "m.gguf"), ("c/x-GGUF", "q4/m.gguf"), ("c/x-GGUF", "q8/m.gguf")]
    wanted = {}
    for seed, (repo, name) in enumerate(places):
        wanted[tmp_path / repo / name] = hub.add(repo, name, content(2000, seed)).sha256
        finish(fetch_request(tmp_path, name, repo))
    assert {path: sha256(path) for path in wanted} == wanted


def test_a_split_set_appears_only_when_all_parts_are_right(hub: LocalHub, tmp_path: Path) -> None:
    names = [f"big-0000{no}-of-00003.gguf" for no in (1, 2, 3)]
    files = [hub.add(REPO, name, content(50_000, no)) for no, name in enumerate(names)]
    parts = tuple(FilePart(path=name, size=50_000) for name in names)
    files[2].body = bytes(50_000)
    assert fail(fetch_request(tmp_path, files=parts)).code == "checksum"
    assert not list(folder(tmp_path).glob("*.gguf"))
    files[2].body = None
    done = finish(fetch_request(tmp_path, files=parts))
    assert (done.size, done.verified) == (150_000, True)
    assert sorted(path.name for path in folder(tmp_path).glob("[!.]*")) == names
    assert [hub.sent[name] for name in names] == [50_000, 50_000, 100_000]


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


def test_a_part_that_is_too_long_starts_over(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content())
    target = leave_part(tmp_path, FILE, file.data + b"more", etag=file.sha256, size=300_000)
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert notes(found)
    assert sha256(target) == file.sha256


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


def test_bytes_without_a_record_are_not_trusted(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content())
    target = leave_part(tmp_path, FILE, bytes(1000), etag=file.sha256, size=300_000)
    record_path(target).write_text("{ not json")
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256


def test_the_record_says_of_what_the_part_is(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content(), cut_after=100_000, cut_times=1, body_refusal=None)
    file.body_refusal = Refusal(403, times=None)
    fail(fetch_request(tmp_path))
    record = read_record(record_path(folder(tmp_path) / FILE))
    assert record is not None
    assert (record.repo, record.path, record.commit, record.size) == (REPO, FILE, COMMIT, 300_000)
    assert (record.sha256, record.etag) == (file.sha256, file.sha256)
