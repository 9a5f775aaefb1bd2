"""From a name to a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import VrambleError
from engine.library.index import Index
from engine.library.lookup import find_model
from engine.library.records import InstalledModel
from engine.library.roots import LibraryRoot, RootKind
from engine.library.scan import scan_root
from engine.library.survey import Survey
from engine.library.whereabouts import Whereabouts
from tests.engine.library.making import llama
from tests.fakes.model_homes import OLLAMA_MODEL, machine, ollama_model, put
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


def test_names_in_other_folders(models: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    ollama_model(elsewhere / "ollama", "library/llama3/8b", [(OLLAMA_MODEL, llama(name="o"))])
    ollama_model(elsewhere / "ollama", "library/llama3/latest", [(OLLAMA_MODEL, llama(name="o"))])
    root = LibraryRoot(kind=RootKind.OLLAMA, path=str(elsewhere / "ollama"))
    found = scan_root(root, elsewhere / "ollama", Index()).models
    asked: list[int] = []

    def others() -> tuple[InstalledModel, ...]:
        asked.append(1)
        return found

    for name in ("llama3:8b", "LLAMA3:latest", "llama3"):
        assert find_model(models, name, others) == found[0].path
    asked.clear()
    assert find_model(models, "gemma-3-4b-it", others) == models / GEMMA
    assert asked == []


def test_one_model_in_two_places_is_not_ambiguous(tmp_path: Path) -> None:
    around = machine(tmp_path)
    path = put(around.home / ".lmstudio/models/a/b/same-Q8_0.gguf", llama())
    put(around.home / ".local/share/nomic.ai/GPT4All/same-Q8_0.gguf", llama())
    found = Survey(Whereabouts(tmp_path / "own", around), Index()).scan().models
    assert find_model(tmp_path / "own", "same-Q8_0", lambda: found) == path
