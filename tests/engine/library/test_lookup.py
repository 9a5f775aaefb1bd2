"""From a name to a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library.lookup import find_model
from tests.engine.library.making import llama
from tests.fakes.tiny_gguf import U32, split_set

QWEN = "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q4_K_M.gguf"
QWEN_8 = "Qwen/Qwen3-8B-GGUF/Qwen3-8B-Q8_0.gguf"
GEMMA = "ggml-org/gemma/gemma-3-4b-it-Q4_K_M.gguf"


@pytest.fixture
def models(tmp_path: Path) -> Path:
    for name, kind in ((QWEN, 15), (QWEN_8, 7), (GEMMA, 15)):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(llama({"general.file_type": (U32, kind)}))
    for name, data in split_set(2).items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("Qwen3-8B Q8_0", QWEN_8),
        ("qwen3-8b-q4_k_m.gguf", QWEN),
        ("Qwen3-8B-Q4_K_M", QWEN),
        (QWEN, QWEN),
        (f"hf:{QWEN_8}", QWEN_8),
        ("gemma-3-4b-it", GEMMA),
        ("gem", GEMMA),
        ("big", "big-00001-of-00002.gguf"),
    ],
)
def test_names_that_mean_one_model(models: Path, name: str, file: str) -> None:
    assert find_model(models, name) == models / file


def test_a_path_wins(models: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "gem").write_bytes(llama())
    monkeypatch.chdir(elsewhere)
    assert find_model(models, "gem") == elsewhere / "gem"
    assert find_model(models, str(elsewhere / "gem")) == elsewhere / "gem"


def test_several_are_named(models: Path) -> None:
    with pytest.raises(VrambleError) as caught:
        find_model(models, "qwen3")
    assert caught.value.code == "model-ambiguous"
    assert "Qwen3-8B-Q4_K_M.gguf, Qwen3-8B-Q8_0.gguf" in caught.value.message


@pytest.mark.parametrize(
    ("name", "words"), [("gemma-3-4b-ti", "gemma-3-4b-it Q4_K_M"), ("zzz", "Installed are"), ("", "Installed")]
)
def test_near_names_are_offered(models: Path, name: str, words: str) -> None:
    with pytest.raises(VrambleError) as caught:
        find_model(models, name)
    assert caught.value.code == "model-not-found"
    assert words in caught.value.next_step


def test_nothing_installed(tmp_path: Path) -> None:
    with pytest.raises(VrambleError) as caught:
        find_model(tmp_path / "models", "x")
    assert "vramble pull" in caught.value.next_step
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    "name",
    [
        "/no/such.gguf",
        "such.gguf",
        "SUCH.GGUF",
        "./gemma",
        "no/such/model",
        "~nobody-of-this-name/x.gguf",
        "x" * 5000 + "/a",
    ],
)
def test_a_path_that_leads_nowhere(models: Path, name: str) -> None:
    with pytest.raises(VrambleError) as caught:
        find_model(models, name)
    assert caught.value.code == "missing-file"
    assert caught.value.message == f"The file {name} does not exist."
    assert "vramble models list" in caught.value.next_step


def test_a_folder_is_no_model(models: Path) -> None:
    with pytest.raises(VrambleError) as caught:
        find_model(models, str(models))
    assert (caught.value.code, caught.value.message) == ("missing-file", f"{models} is a folder, not a model file.")


def test_a_folder_that_may_not_be_entered(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_file", refused)
    with pytest.raises(VrambleError) as caught:
        find_model(models, "/root/x.gguf")
    assert (caught.value.code, caught.value.message) == ("unreadable-file", "/root/x.gguf cannot be read.")
