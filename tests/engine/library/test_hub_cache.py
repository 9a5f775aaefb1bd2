"""The cache of the Hub's client: names, revisions, deleting."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.library.deletion import carry_out, plan_deletion
from engine.library.index import Index
from engine.library.records import InstalledModel
from engine.library.roots import LibraryRoot, RootKind
from engine.library.scan import scan_root
from tests.engine.library.making import llama
from tests.fakes.model_homes import hub_file, put
from tests.fakes.tiny_gguf import split_set

DATA = llama()
REPO = "unsloth/Qwen3-8B-GGUF"
FILE = "Qwen3-8B-Q4_K_M.gguf"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "hub"


def models(cache: Path) -> tuple[InstalledModel, ...]:
    return scan_root(LibraryRoot(kind=RootKind.HUB_CACHE, path=str(cache)), cache, Index()).models


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_symlink() or path.is_file())


def test_a_model_has_name_repository_revision_and_checksum(cache: Path) -> None:
    link = hub_file(cache, REPO, "c0ffee", FILE, DATA)
    (model,) = models(cache)
    assert (model.path, model.name, model.repo, model.commit, model.file) == (link, "Qwen3-8B", REPO, "c0ffee", FILE)
    assert model.hashes == (link.resolve().name,)
    assert (model.owner, model.linked, model.can_chat) == ("Hugging Face Hub cache", False, True)
    assert model.frees_bytes >= len(DATA)


def test_bytes_that_two_revisions_share_are_one_model_of_the_newest(cache: Path) -> None:
    hub_file(cache, REPO, "aaa", FILE, DATA)
    newest = hub_file(cache, REPO, "bbb", FILE, DATA)
    (model,) = models(cache)
    assert (model.path, model.commit, model.warnings) == (newest, "bbb", ())


def test_an_older_revision_with_other_bytes_says_so(cache: Path) -> None:
    hub_file(cache, REPO, "aaa", FILE, llama(name="old"))
    hub_file(cache, REPO, "bbb", FILE, DATA)
    assert {model.commit: bool(model.warnings) for model in models(cache)} == {"aaa": True, "bbb": False}


def test_files_in_folders_and_split_sets(cache: Path) -> None:
    for name, data in split_set(3).items():
        hub_file(cache, REPO, "c0ffee", f"Q8_0/{name}", data)
    (model,) = models(cache)
    assert (len(model.parts), model.file) == (3, "Q8_0/big-00001-of-00003.gguf")
    assert all(model.hashes)


def test_what_is_no_model_is_left_alone(cache: Path) -> None:
    put(cache / "models--gpt2/snapshots/x/model.safetensors", b"x")
    put(cache / "datasets--a--b/snapshots/x/a.gguf", DATA)
    put(cache / "models--a--b/blobs/0123.incomplete", DATA)
    put(cache / "models--a--b/snapshots/x/b.gguf", b"version https://git-lfs.github.com/spec/v1\n")
    assert [model.state.value for model in models(cache)] == ["pointer"]


def test_without_links_the_files_lie_in_the_snapshot(cache: Path) -> None:
    path = put(cache / "models--a--b-GGUF/snapshots/abc/x-Q8_0.gguf", DATA)
    (model,) = models(cache)
    assert (model.path, model.repo, model.hashes) == (path, "a/b-GGUF", ("",))


def test_a_link_to_a_blob_that_is_gone_is_no_model(cache: Path) -> None:
    link = hub_file(cache, REPO, "abc", FILE, DATA)
    link.resolve().unlink()
    assert models(cache) == ()


def test_modelscope_has_no_repository_on_the_hub(cache: Path) -> None:
    put(cache / "modelscope--models--a--b/snapshots/abc/x.gguf", DATA)
    assert [model.repo for model in models(cache)] == [None]


def test_delete_takes_link_and_blob_and_frees_what_it_says(cache: Path) -> None:
    hub_file(cache, REPO, "abc", FILE, DATA)
    other = hub_file(cache, REPO, "abc", "other-Q8_0.gguf", llama(name="other"))
    model = next(model for model in models(cache) if model.file == FILE)
    plan = plan_deletion(model, cache)
    assert plan.frees_bytes == model.path.resolve().stat().st_blocks * 512
    assert "other programs" in plan.notes[0]
    assert carry_out(plan, cache) == plan.frees_bytes
    assert [Path(name).name for name in files(cache)] == [other.resolve().name, "main", "other-Q8_0.gguf"]
    assert other.resolve(strict=True).is_file()


def test_delete_takes_the_file_out_of_all_revisions(cache: Path) -> None:
    hub_file(cache, REPO, "aaa", FILE, DATA)
    hub_file(cache, REPO, "bbb", FILE, DATA)
    (model,) = models(cache)
    plan = plan_deletion(model, cache)
    assert any("all 2 revisions" in note for note in plan.notes)
    carry_out(plan, cache)
    assert list(cache.iterdir()) == []


def test_a_blob_that_something_else_uses_stays(cache: Path) -> None:
    hub_file(cache, REPO, "aaa", FILE, DATA)
    renamed = hub_file(cache, REPO, "bbb", "new-name.gguf", DATA)
    model = next(model for model in models(cache) if model.path == renamed)
    plan = plan_deletion(model, cache)
    assert (plan.frees_bytes, any("same bytes" in note for note in plan.notes)) == (0, True)
    carry_out(plan, cache)
    assert [model.file for model in models(cache)] == [FILE]
