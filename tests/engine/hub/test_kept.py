"""What the Hub said earlier, on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.hub import kept as module
from engine.hub.kept import Kept
from engine.hub.records import RepoPage, RepoSummary, SearchPage, SearchQuery
from engine.library.listing import RepoListing

HUB = "https://hub.example"


def found(*names: str, read_at: float = 1.0, likes: int | None = None) -> SearchPage:
    return SearchPage(rows=tuple(RepoSummary(repo=name, likes=likes) for name in names), read_at=read_at)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path / "a" / "hub", HUB)


def test_a_page_comes_back_as_it_was(kept: Kept) -> None:
    key = kept.search_key(SearchQuery(text="x"), "")
    assert kept.read(key, SearchPage) is None
    kept.write(key, found("a/b"))
    assert kept.read(key, SearchPage) == found("a/b")


def test_another_question_another_hub_another_page(tmp_path: Path, kept: Kept) -> None:
    other = Kept(tmp_path / "a" / "hub", "https://mirror.example")
    keys = {
        kept.search_key(SearchQuery(text="x"), ""),
        kept.search_key(SearchQuery(text="x"), "cursor=2"),
        kept.search_key(SearchQuery(text="y"), ""),
        other.search_key(SearchQuery(text="x"), ""),
        kept.repo_key("a/b", "main"),
        kept.repo_key("a/b", "v1"),
        other.repo_key("a/b", "main"),
    }
    assert len(keys) == 7
    assert kept.repo_key("A/b", "main") == kept.repo_key("a/B", "main")


@pytest.mark.parametrize("data", [b"", b"{", b"\xff" * 40, b"[1]", b"null", b'{"rows": 5}'])
def test_a_damaged_file_is_no_page(tmp_path: Path, kept: Kept, data: bytes) -> None:
    key = kept.search_key(SearchQuery(), "")
    kept.write(key, found("a/b"))
    (tmp_path / "a" / "hub" / key).write_bytes(data)
    assert kept.read(key, SearchPage) is None
    assert list(kept.summaries()) == []
    kept.write(key, found("c/d"))
    assert kept.read(key, SearchPage) == found("c/d")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    kept = Kept(tmp_path / "file" / "hub", HUB)
    key = kept.search_key(SearchQuery(), "")
    kept.write(key, found("a/b"))
    assert kept.read(key, SearchPage) is None
    assert list(kept.summaries()) == []


def test_every_repository_once_as_it_was_told_last(kept: Kept) -> None:
    kept.write(kept.search_key(SearchQuery(text="1"), ""), found("a/b", "c/d", read_at=5.0, likes=1))
    kept.write(kept.search_key(SearchQuery(text="2"), ""), found("a/b", read_at=9.0, likes=2))
    page = RepoPage(summary=RepoSummary(repo="c/d", likes=3), listing=RepoListing(repo="c/d"), read_at=7.0)
    kept.write(kept.repo_key("c/d", "main"), page)
    assert {row.repo: row.likes for row in kept.summaries()} == {"a/b": 2, "c/d": 3}


def test_the_oldest_go_when_there_is_too_much(tmp_path: Path, kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_FILES", 3)
    monkeypatch.setattr(module, "PRUNE_EVERY", 1)
    keys = [kept.search_key(SearchQuery(text=str(number)), "") for number in range(6)]
    folder = tmp_path / "a" / "hub"
    for number, key in enumerate(keys):
        kept.write(key, found("a/b"))
        os.utime(folder / key, (1000 + number, 1000 + number))
    kept.write(kept.search_key(SearchQuery(text="newest"), ""), found("c/d"))
    assert [kept.read(key, SearchPage) is not None for key in keys] == [False, False, False, False, True, True]


def test_what_is_too_large_is_not_kept(kept: Kept, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST", 100)
    key = kept.search_key(SearchQuery(), "")
    kept.write(key, found(*(f"a/b{number}" for number in range(50))))
    assert kept.read(key, SearchPage) is None
