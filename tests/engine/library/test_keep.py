"""Putting models in and taking them out."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library.keep import add_file, add_starter, delete
from engine.library.origin import origin_path
from engine.library.scan import scan
from tests.engine.library.making import llama
from tests.fakes.tiny_gguf import split_set


@pytest.fixture
def models(tmp_path: Path) -> Path:
    return tmp_path / "models"


def put(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data or llama())
    return path


def code_of(call: object, *arguments: object) -> str:
    with pytest.raises(VrambleError) as caught:
        call(*arguments)  # type: ignore[operator]
    return caught.value.code


def test_delete_frees_what_the_entry_says_and_leaves_no_empty_folder(models: Path) -> None:
    keep = put(models / "a/x/m.gguf")
    gone = put(models / "b/x/m.gguf")
    put(origin_path(gone), b"{}")
    model = next(model for model in scan(models).models if model.path == gone)
    assert delete(models, model) == model.frees_bytes > 0
    assert [path for path in models.rglob("*") if path.is_file()] == [keep]
    assert not (models / "b").exists()


def test_delete_takes_all_parts(models: Path) -> None:
    for name, data in split_set(3).items():
        put(models / name, data)
    (model,) = scan(models).models
    delete(models, model)
    assert list(models.iterdir()) == []


def test_delete_of_a_link_leaves_the_target(models: Path, tmp_path: Path) -> None:
    target = put(tmp_path / "other/a.gguf")
    models.mkdir()
    (models / "a.gguf").symlink_to(target)
    (model,) = scan(models).models
    assert delete(models, model) == 0
    assert target.exists()
    assert not (models / "a.gguf").is_symlink()


def test_delete_behind_a_linked_folder_is_refused(models: Path, tmp_path: Path) -> None:
    target = put(tmp_path / "other/a.gguf")
    models.mkdir()
    (models / "dir").symlink_to(target.parent)
    (model,) = scan(models).models
    assert code_of(delete, models, model) == "not-deletable"
    assert target.exists()


def test_delete_of_a_name_that_is_no_text(models: Path) -> None:
    models.mkdir()
    odd = Path(os.fsdecode(os.fsencode(models) + b"/a\xff.gguf"))
    odd.write_bytes(llama())
    put(models / "a\ufffd.gguf")
    model = next(model for model in scan(models).models if model.path == odd)
    delete(models, model)
    assert [path.name for path in models.iterdir()] == ["a\ufffd.gguf"]


def test_delete_that_the_system_refuses(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(models / "a.gguf")
    (model,) = scan(models).models

    def refuse(self: Path, missing_ok: bool = False) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(Path, "unlink", refuse)
    assert code_of(delete, models, model) == "delete-failed"


def test_the_starter_comes_as_a_link_to_the_same_bytes(models: Path, tmp_path: Path) -> None:
    source = put(tmp_path / "share/SmolLM2-135M-Instruct-Q4_1.gguf")
    path = add_starter(source, models)
    assert path == models / "starter/SmolLM2-135M-Instruct/SmolLM2-135M-Instruct-Q4_1.gguf"
    assert path.samefile(source)
    assert add_starter(source, models) == path
    (model,) = scan(models).models
    assert (model.can_chat, model.repo, model.frees_bytes) == (True, None, 0)
    assert delete(models, model) == 0
    assert source.exists()


def test_the_starter_is_copied_where_links_do_not_work(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    source = put(tmp_path / "share/s.gguf")
    monkeypatch.setattr(os, "link", refuse)
    path = add_starter(source, models)
    assert path.read_bytes() == source.read_bytes()
    assert not path.samefile(source)
    assert [entry.name for entry in path.parent.iterdir()] == ["s.gguf"]


def test_a_copy_that_breaks_off_leaves_nothing(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    def link(*_: object) -> None:
        raise OSError(errno.EXDEV, "no link")

    def copy(source: Path, target: Path) -> None:
        Path(target).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    source = put(tmp_path / "s.gguf")
    monkeypatch.setattr(os, "link", link)
    monkeypatch.setattr(shutil, "copyfile", copy)
    assert code_of(add_starter, source, models) == "copy-failed"
    assert scan(models).models == ()
    assert not [path for path in models.rglob("*") if path.is_file()]


def test_a_linked_starter_is_seen_through(models: Path, tmp_path: Path) -> None:
    real = put(tmp_path / "cache/real.gguf")
    source = tmp_path / "share.gguf"
    source.symlink_to(real)
    path = add_starter(source, models)
    assert not path.is_symlink()
    assert path.read_bytes() == real.read_bytes()


def test_without_a_starter(models: Path) -> None:
    assert code_of(add_starter, None, models) == "no-starter"
    assert not models.exists()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    source = put(tmp_path / "m.gguf")
    (tmp_path / "file").write_text("")
    assert code_of(add_file, source, tmp_path / "file/x/m.gguf") == "copy-failed"
