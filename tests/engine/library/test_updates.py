"""Newer files in the repository of a model."""

from __future__ import annotations

from pathlib import Path

import msgspec

from engine.library.listing import FilePart, RepoFile, RepoListing
from engine.library.records import InstalledModel, ModelUpdate
from engine.library.states import FileState
from engine.library.updates import can_be_asked, find_updates

OLD, NEW = "a" * 64, "b" * 64


def model(file: str = "m-Q8_0.gguf", sha256: str = OLD, size: int = 10, **more: object) -> InstalledModel:
    path = Path("/models/a/x") / file
    values = {"path": path, "name": "m", "label": "m", "size_bytes": size, "folder": path.parent, "repo": "a/x"}
    values |= {"file": file, "parts": (path,), "hashes": (sha256,)}
    return InstalledModel(**(values | more))  # type: ignore[arg-type]


def listing(*parts: FilePart) -> RepoListing:
    files = tuple(RepoFile(path=p.path, quant="", size=p.size, sha256=p.sha256, parts=(p,)) for p in parts)
    return RepoListing(repo="a/x", commit="new", files=files)


def updates(models: list[InstalledModel], *parts: FilePart) -> tuple[ModelUpdate, ...]:
    return find_updates(models, listing(*parts), 5.0)


def test_other_bytes_are_an_update() -> None:
    (update,) = updates([model()], FilePart(path="m-Q8_0.gguf", size=11, sha256=NEW))
    assert update == ModelUpdate(
        path=model().path, repo="a/x", file="m-Q8_0.gguf", commit="new", n_bytes=11, checked=5.0
    )


def test_the_same_bytes_in_a_new_revision_are_none() -> None:
    assert updates([model(commit="old")], FilePart(path="m-Q8_0.gguf", size=10, sha256=OLD)) == ()


def test_without_checksums_the_size_tells() -> None:
    one = model(sha256="")
    assert len(updates([one], FilePart(path="m-Q8_0.gguf", size=11, sha256=NEW))) == 1
    assert updates([one], FilePart(path="m-Q8_0.gguf", size=10, sha256=NEW)) == ()
    assert updates([one], FilePart(path="m-Q8_0.gguf")) == ()


def test_a_file_that_the_repository_has_no_more_is_no_update() -> None:
    assert updates([model()], FilePart(path="other.gguf", size=11, sha256=NEW)) == ()


def test_a_file_of_which_only_the_name_is_known() -> None:
    there = FilePart(path="Q8/m-Q8_0.gguf", size=11, sha256=NEW)
    one = msgspec.structs.replace(model(), file="")
    assert len(updates([one], there)) == 1
    twice = FilePart(path="old/m-Q8_0.gguf", size=12, sha256=OLD)
    assert updates([one], there, twice) == ()


def test_one_new_part_of_a_set_is_an_update() -> None:
    names = [f"m-0000{no}-of-00002.gguf" for no in (1, 2)]
    paths = tuple(Path("/models/a/x") / name for name in names)
    one = model(names[0], parts=paths, hashes=(OLD, OLD), size=20)
    parts = [FilePart(path=names[0], size=10, sha256=OLD), FilePart(path=names[1], size=11, sha256=NEW)]
    (update,) = updates([one], *parts)
    assert update.n_bytes == 21


def test_who_can_be_asked() -> None:
    assert can_be_asked(model())
    assert not can_be_asked(model(repo=None))
    assert not can_be_asked(model(state=FileState.ABSENT))
