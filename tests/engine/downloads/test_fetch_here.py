"""What a download does in odd cases, without a process of its own."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from engine.downloads.messages import Fetched, Progress
from engine.downloads.partial import read_record, record_path
from engine.library.listing import FilePart
from tests.engine.downloads import conftest
from tests.engine.downloads.conftest import FILE, REPO, content, fetch_request, folder, leave_part, notes, sha256
from tests.engine.downloads.conftest import run_here as run
from tests.fakes.local_hub import COMMIT, LocalHub, Refusal

pytestmark = pytest.mark.usefixtures("hub")

finish, fail = partial(conftest.finish, run=run), partial(conftest.fail, run=run)


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


@pytest.mark.parametrize("connections", [1, 4])
def test_a_file_in_chunked_storage_comes_by_plain_ranges(hub: LocalHub, tmp_path: Path, connections: int) -> None:
    file = hub.add(REPO, FILE, content(), xet=True, storage=True)
    assert finish(fetch_request(tmp_path, connections=connections)).sha256 == file.sha256
    assert not [entry for entry in hub.log if "xet" in entry.path]


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


@pytest.mark.parametrize("status", [500, 502, 503, 504, 408])
def test_trouble_of_the_server_passes(hub: LocalHub, tmp_path: Path, status: int) -> None:
    file = hub.add(REPO, FILE, content(1000), body_refusal=Refusal(status, times=2))
    assert finish(fetch_request(tmp_path)).sha256 == file.sha256


def test_trouble_that_stays_is_said(hub: LocalHub, tmp_path: Path) -> None:
    hub.add(REPO, FILE, content(1000), refusal=Refusal(503))
    assert fail(fetch_request(tmp_path)).code == "hub-server"


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


def test_a_part_that_is_too_long_starts_over(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, FILE, content())
    target = leave_part(tmp_path, FILE, file.data + b"more", etag=file.sha256, size=300_000)
    found = run(fetch_request(tmp_path))
    assert isinstance(found[-1], Fetched)
    assert notes(found)
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


def test_any_folder_will_do(hub: LocalHub, tmp_path: Path) -> None:
    file = hub.add(REPO, "日本 😀 #1 %20.gguf", content(1000))
    odd = Path(os.fsdecode(os.fsencode(tmp_path / 'tëst 日本 it\'s "q" %20 #1') + b"\xff"))
    done = finish(fetch_request(odd, "日本 😀 #1 %20.gguf"))
    assert Path(os.fsdecode(done.path)) == odd / REPO / "日本 😀 #1 %20.gguf"
    assert sha256(odd / REPO / "日本 😀 #1 %20.gguf") == file.sha256
