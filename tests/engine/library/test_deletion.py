"""Deleting says whose files go and what that frees, and the trash gives them back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library.deletion import carry_out, plan_deletion
from engine.library.index import Index
from engine.library.origin import origin_path
from engine.library.records import InstalledModel
from engine.library.roots import LibraryRoot, RootKind
from engine.library.scan import scan_root
from engine.library.trash import put_back, trash
from tests.engine.library.making import llama
from tests.fakes.model_homes import OLLAMA_MODEL, hub_file, ollama_model, put
from tests.fakes.tiny_gguf import split_set

DATA = llama()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


class Bin:
    """A trash that has its folder beside the root, or none."""

    def __init__(self, folder: Path, left: int = 99) -> None:
        self.folder = folder / "Trash/files"
        self.left = left

    def __call__(self, path: Path) -> Path | None:
        self.left -= 1
        if self.left < 0:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        target = self.folder / path.name
        path.rename(target)
        put(self.folder.parent / "info" / f"{path.name}.trashinfo", b"[Trash Info]")
        return target


def model_of(root: Path, kind: RootKind = RootKind.OWN) -> InstalledModel:
    (model,) = scan_root(LibraryRoot(kind=kind, path=str(root)), root, Index()).models
    return model


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


def test_a_plan_deletes_nothing(root: Path) -> None:
    put(root / "a/x/m.gguf", DATA)
    plan = plan_deletion(model_of(root), root)
    assert (plan.owner, plan.notes, plan.stays, plan.refused) == ("", (), "", "")
    assert plan.frees_bytes == (root / "a/x/m.gguf").stat().st_blocks * 512
    assert everything(root) == ["a/x/m.gguf"]


@pytest.mark.parametrize("kind", [RootKind.LM_STUDIO, RootKind.JAN, RootKind.GPT4ALL, RootKind.LLAMA_CPP])
def test_the_owner_of_the_files_is_named(root: Path, kind: RootKind) -> None:
    put(root / "a/x/m.gguf", DATA)
    plan = plan_deletion(model_of(root, kind), root)
    assert plan.owner
    assert plan.owner in plan.notes[0]


def test_a_second_name_keeps_the_space(root: Path, tmp_path: Path) -> None:
    os.link(put(tmp_path / "elsewhere.gguf", DATA), put(root / "x", b"").with_name("m.gguf"))
    plan = plan_deletion(model_of(root), root)
    assert (plan.frees_bytes, "another name" in plan.stays) == (0, True)


def test_only_a_link_goes(root: Path, tmp_path: Path) -> None:
    target = put(tmp_path / "elsewhere.gguf", DATA)
    root.mkdir()
    (root / "m.gguf").symlink_to(target)
    plan = plan_deletion(model_of(root), root)
    assert (plan.frees_bytes, "only the link goes" in plan.stays) == (0, True)
    carry_out(plan, root)
    assert target.exists()
    assert everything(root) == []


def test_a_folder_that_may_not_be_written_to(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root / "m.gguf", DATA)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # whoever runs the tests may write everywhere
    plan = plan_deletion(model_of(root), root)
    assert "cannot be written to" in plan.refused
    assert (root / "m.gguf").exists()


def test_what_ollama_keeps_for_itself_is_deleted_by_its_own_command(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ollama_model(root, "library/llama3/8b", [(OLLAMA_MODEL, DATA)])
    model = model_of(root, RootKind.OLLAMA)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(VrambleError) as caught:
        carry_out(plan_deletion(model, root), root)
    assert caught.value.code == "not-deletable"
    assert caught.value.message.endswith("Delete it with: ollama rm llama3:8b")


@pytest.mark.parametrize("kind", [RootKind.OWN, RootKind.HUB_CACHE, RootKind.OLLAMA])
def test_the_trash_gives_everything_back(root: Path, tmp_path: Path, kind: RootKind) -> None:
    if kind is RootKind.OWN:
        for name, data in split_set(3).items():
            put(origin_path(put(root / "a/x" / name, data)), b'{"repo": "a/x", "path": "x"}')
    elif kind is RootKind.HUB_CACHE:
        hub_file(root, "a/b", "c", "m.gguf", DATA)
    else:
        ollama_model(root, "library/llama3/8b", [(OLLAMA_MODEL, DATA)])
    before = everything(root)
    model = model_of(root, kind)
    plan = plan_deletion(model, root)
    trashed = trash(model, root, Bin(tmp_path))
    assert trashed.freed == plan.frees_bytes > 0
    assert everything(root) == []
    put_back(trashed)
    assert everything(root) == before
    assert everything(tmp_path / "Trash") == []
    assert model_of(root, kind) == model


def test_where_there_is_no_trash_nothing_happens(root: Path, tmp_path: Path) -> None:
    for name, data in split_set(3).items():
        put(root / name, data)
    before = everything(root)
    with pytest.raises(VrambleError) as caught:
        trash(model_of(root), root, Bin(tmp_path, left=1))
    assert caught.value.code == "no-trash"
    assert everything(root) == before


def test_a_trash_that_was_emptied_is_told(root: Path, tmp_path: Path) -> None:
    put(root / "m.gguf", DATA)
    trashed = trash(model_of(root), root, Bin(tmp_path))
    trashed.places[0][1].unlink()
    with pytest.raises(VrambleError) as caught:
        put_back(trashed)
    assert caught.value.code == "not-in-trash"


def test_a_place_that_is_taken_by_now_is_not_overwritten(root: Path, tmp_path: Path) -> None:
    put(root / "m.gguf", DATA)
    trashed = trash(model_of(root), root, Bin(tmp_path))
    put(root / "m.gguf", b"another")
    with pytest.raises(VrambleError):
        put_back(trashed)
    assert (root / "m.gguf").read_bytes() == b"another"


def test_what_is_back_and_what_is_not_is_told(root: Path, tmp_path: Path) -> None:
    names = sorted(split_set(3))
    for name, data in split_set(3).items():
        put(root / name, data)
    trashed = trash(model_of(root), root, Bin(tmp_path))
    lost = next(there for place, there in trashed.places if place.name == names[1])
    lost.unlink()
    with pytest.raises(VrambleError) as caught:
        put_back(trashed)
    assert caught.value.message.startswith("2 of 3 files of ")
    assert names[1] in caught.value.message
    assert names[0] not in caught.value.message
    assert sorted(path.name for path in root.iterdir()) == [names[0], names[2]]


def test_a_file_that_neither_goes_nor_lets_the_others_back_is_told(root: Path, tmp_path: Path) -> None:
    names = sorted(split_set(3))
    for name, data in split_set(3).items():
        put(root / name, data)
    model, bin_ = model_of(root), Bin(tmp_path, left=1)

    def full(path: Path) -> Path | None:
        there = bin_(path)
        if there is None:
            put(root / names[0], b"somebody else")
        return there

    with pytest.raises(VrambleError) as caught:
        trash(model, root, full)
    assert caught.value.code == "half-in-trash"
    assert caught.value.message.startswith(f"{names[1]} cannot be moved to the trash and stays. ")
    assert (root / names[0]).read_bytes() == b"somebody else"
    assert [path.name for path in (tmp_path / "Trash/files").iterdir()] == [names[0]]


def test_a_deletion_that_stops_in_the_middle_says_what_is_gone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = sorted(split_set(3))
    for name, data in split_set(3).items():
        put(root / name, data)
    unlink = Path.unlink

    def busy(path: Path, missing_ok: bool = False) -> None:
        if path.name == names[1]:
            raise OSError(16, "Device or resource busy")
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", busy)
    with pytest.raises(VrambleError) as caught:
        carry_out(plan_deletion(model_of(root), root), root)
    assert caught.value.message == (
        f"{names[1]} could not be deleted: Device or resource busy. Deleted already: {names[0]}."
    )
    assert [line.rpartition("/")[2] for line in caught.value.detail.splitlines()] == names[1:]


def test_a_link_says_what_stays(root: Path, tmp_path: Path) -> None:
    target = put(tmp_path / "elsewhere.gguf", DATA)
    root.mkdir(exist_ok=True)
    (root / "link.gguf").symlink_to(target)
    assert str(target) in plan_deletion(model_of(root), root).stays
