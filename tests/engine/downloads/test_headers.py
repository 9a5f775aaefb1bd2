"""Headers by ranges: what is read, what is kept, what goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.downloads.client import events
from engine.downloads.headers import FIRST, LARGEST, HeaderFetcher
from engine.downloads.main import answer
from engine.downloads.messages import Event, Failed, FetchHeaders, HeadersFetched, Waiting
from engine.library.gguf import HeaderProblem
from engine.library.listing import FilePart
from engine.memory.fit import FitModel, read_model
from tests.engine.downloads.conftest import QUICK, REPO
from tests.fakes import sparse_gguf
from tests.fakes.local_hub import LocalHub, Refusal
from tests.fakes.sparse_gguf import Sizes

MIB = 1 << 20


def request(folder: Path, *names: str, **more) -> FetchHeaders:
    folder.mkdir(exist_ok=True)
    files = tuple(FilePart(path=name) for name in names)
    return FetchHeaders(folder=os.fsencode(folder), repo=REPO, files=files, limits=QUICK, **more)


def here(asked: FetchHeaders) -> Event:
    return answer(asked, lambda _: None)


def fetched(asked: FetchHeaders) -> HeadersFetched:
    last = here(asked)
    assert isinstance(last, HeadersFetched), last
    return last


def failed(asked: FetchHeaders) -> Failed:
    last = here(asked)
    assert isinstance(last, Failed), last
    return last


def model_at(path: Path | bytes) -> FitModel:
    found = read_model(Path(os.fsdecode(path)))
    assert not isinstance(found, HeaderProblem), found
    return found


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vocabulary of 262,144 tokens before 34 MB of weights."""
    sizes = Sizes(layers=1, width=64, heads=1, kv_heads=1, ff=64, vocabulary=262_144)
    return sparse_gguf.llama(sizes, "F16", tied=True).write(tmp_path_factory.mktemp("large") / "large.gguf")


@pytest.fixture
def small(tmp_path) -> Path:
    return sparse_gguf.llama(Sizes(layers=2, vocabulary=300)).write(tmp_path / "small.gguf")


def test_the_header_is_enough(hub: LocalHub, small: Path, tmp_path: Path) -> None:
    hub.add(REPO, "small.gguf", small.read_bytes())
    done = fetched(request(tmp_path / "headers", "small.gguf"))
    path = Path(os.fsdecode(done.path))
    assert model_at(path) == model_at(small)
    assert path.stat().st_size == small.stat().st_size
    assert path.stat().st_blocks * 512 < 200_000, "sparse"
    assert done.bytes_read == FIRST


def test_a_large_vocabulary(hub: LocalHub, large: Path, tmp_path: Path) -> None:
    file = hub.add(REPO, "large.gguf", large.read_bytes())
    done = fetched(request(tmp_path / "headers", "large.gguf"))
    assert model_at(done.path) == model_at(large)
    assert 6 * MIB < done.bytes_read < 9 * MIB
    assert file.size > 38 * MIB
    ranges = [entry.range or "" for entry in hub.requests("GET", "large.gguf")]
    assert ranges[0] == f"bytes=0-{FIRST - 1}"
    assert len(ranges) < 9
    ends = [int(text.rpartition("-")[2]) - int(text.partition("=")[2].partition("-")[0]) + 1 for text in ranges]
    assert max(ends) == LARGEST


def test_a_split_set(hub: LocalHub, tmp_path: Path) -> None:
    first = sparse_gguf.llama(Sizes(layers=4, vocabulary=300)).write_split(tmp_path, "set", 3)
    names = sorted(path.name for path in tmp_path.glob("set-*.gguf"))
    for name in names:
        hub.add(REPO, f"Q8/{name}", (tmp_path / name).read_bytes())
    done = fetched(request(tmp_path / "headers", *(f"Q8/{name}" for name in names)))
    assert model_at(done.path) == model_at(first)
    assert done.bytes_read <= 3 * FIRST


def test_the_process_does_the_same(hub: LocalHub, small: Path, tmp_path: Path) -> None:
    hub.add(REPO, "small.gguf", small.read_bytes())
    last = list(events(request(tmp_path / "headers", "small.gguf")))[-1]
    assert isinstance(last, HeadersFetched)
    assert model_at(last.path) == model_at(small)


def test_never_more_than_allowed(hub: LocalHub, large: Path, tmp_path: Path) -> None:
    hub.add(REPO, "large.gguf", large.read_bytes())
    found = failed(request(tmp_path / "headers", "large.gguf", most=2 * MIB))
    assert found.code == "header-too-long"
    assert "2 MiB" in found.message
    assert sum(hub.sent.values()) <= 2 * MIB


def test_a_server_without_ranges(hub: LocalHub, small: Path, large: Path, tmp_path: Path) -> None:
    """It sends everything from the start each time: that is read as far as needed, and no further than allowed."""
    hub.add(REPO, "small.gguf", small.read_bytes(), ignore_range=True)
    assert model_at(fetched(request(tmp_path / "headers", "small.gguf")).path) == model_at(small)
    hub.add(REPO, "large.gguf", large.read_bytes(), ignore_range=True)
    assert failed(request(tmp_path / "headers", "large.gguf")).code == "header-too-long"


def test_a_broken_connection_is_tried_again(hub: LocalHub, large: Path, tmp_path: Path) -> None:
    hub.add(REPO, "large.gguf", large.read_bytes(), cut_after=100_000, cut_times=3)
    seen: list[Event] = []
    waits: list[float] = []
    done = HeaderFetcher(request(tmp_path / "headers", "large.gguf"), seen.append, waits.append).run()
    assert model_at(done.path) == model_at(large)
    assert len(waits) == 3
    assert sum(isinstance(event, Waiting) for event in seen) == 3


def test_a_connection_that_breaks_each_time(hub: LocalHub, large: Path, tmp_path: Path) -> None:
    hub.add(REPO, "large.gguf", large.read_bytes(), cut_after=100_000)
    assert failed(request(tmp_path / "headers", "large.gguf")).code == "broken-off"


def test_what_the_hub_refuses(hub: LocalHub, small: Path, tmp_path: Path) -> None:
    gated = Refusal(403, "GatedRepo")
    hub.add(REPO, "small.gguf", small.read_bytes(), refusal=gated)
    assert failed(request(tmp_path / "headers", "small.gguf")).code.startswith("hub-")
    assert failed(request(tmp_path / "headers", "nothing.gguf")).code.startswith("hub-")


@pytest.mark.parametrize("content", [b"", b"Dear all,", b"GGUF", b"version https://git-lfs.github.com/spec/v1\n"])
def test_files_that_are_no_models(hub: LocalHub, tmp_path: Path, content: bytes) -> None:
    hub.add(REPO, "odd.gguf", content)
    found = failed(request(tmp_path / "headers", "odd.gguf"))
    assert found.code in ("not-a-model", "size-unknown")
    assert not list((tmp_path / "headers").iterdir())


def test_a_name_that_leaves_the_folder(hub: LocalHub, tmp_path: Path) -> None:
    assert failed(request(tmp_path / "headers", "../up.gguf")).code == "unsafe-name"
