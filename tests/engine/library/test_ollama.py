"""Ollama's blobs get their names from manifests."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.library import ollama
from engine.library.deletion import carry_out, plan_deletion
from engine.library.index import Index
from engine.library.records import InstalledModel, Role
from engine.library.roots import LibraryRoot, RootKind
from engine.library.scan import RootScan, scan_root
from tests.engine.library.making import llama
from tests.fakes.model_homes import OLLAMA_LICENCE, OLLAMA_MODEL, OLLAMA_PROJECTOR, ollama_model, put
from tests.fakes.tiny_gguf import STR, U32, gguf

DATA = llama({"general.file_type": (U32, 15)})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "models"


def look(root: Path) -> RootScan:
    return scan_root(LibraryRoot(kind=RootKind.OLLAMA, path=str(root)), root, Index())


def only(root: Path) -> InstalledModel:
    (model,) = look(root).models
    return model


def test_name_quant_checksum_and_licence(root: Path) -> None:
    (blob, _) = ollama_model(
        root, "library/llama3/8b", [(OLLAMA_MODEL, DATA), (OLLAMA_LICENCE, b"MIT License\n\nCopyright ...")]
    )
    model = only(root)
    assert (model.path, model.name, model.label) == (blob, "llama3:8b", "llama3:8b Q4_K_M")
    assert (model.licence, model.hashes, model.owner) == ("mit", (hashlib.sha256(DATA).hexdigest(),), "Ollama")
    assert model.can_chat


@pytest.mark.parametrize(
    ("place", "name", "repo"),
    [
        ("library/qwen3/0.6b", "qwen3:0.6b", None),
        ("someone/model/latest", "someone/model:latest", None),
        ("hf.co/unsloth/Qwen3-8B-GGUF/Q4_K_M", "hf.co/unsloth/Qwen3-8B-GGUF:Q4_K_M", "unsloth/Qwen3-8B-GGUF"),
    ],
)
def test_names(root: Path, place: str, name: str, repo: str | None) -> None:
    ollama_model(root, place, [(OLLAMA_MODEL, DATA)])
    model = only(root)
    assert (model.name, model.repo) == (name, repo)


def test_two_tags_of_one_blob_are_one_model(root: Path) -> None:
    for tag in ("latest", "8b"):
        ollama_model(root, f"library/llama3/{tag}", [(OLLAMA_MODEL, DATA)])
    model = only(root)
    assert (model.name, model.also) == ("llama3:8b", ("llama3:latest",))


def test_a_projector_is_a_companion(root: Path) -> None:
    clip = gguf([("general.architecture", STR, "clip")])
    (blob, _) = ollama_model(root, "library/llava/7b", [(OLLAMA_MODEL, DATA), (OLLAMA_PROJECTOR, clip)])
    ollama_model(root, "library/other/7b", [(OLLAMA_MODEL, llama(name="other"))])
    found = look(root)
    assert [(model.role, model.belongs_to) for model in found.companions] == [(Role.PROJECTOR, (blob,))]
    assert [model.belongs_to for model in found.models] == [(), ()]


def test_blobs_without_a_name_and_names_without_a_blob_are_left_out(root: Path) -> None:
    put(root / "blobs" / ("sha256-" + "0" * 64), DATA)
    (blob,) = ollama_model(root, "library/gone/1b", [(OLLAMA_MODEL, DATA)])
    blob.unlink()
    assert look(root).models == ()


def test_blobs_with_a_colon_as_older_versions_wrote_them(root: Path) -> None:
    (blob,) = ollama_model(root, "library/old/1b", [(OLLAMA_MODEL, DATA)])
    blob.rename(blob.with_name(blob.name.replace("-", ":", 1)))
    assert only(root).name == "old:1b"


def test_the_first_line_names_an_unusual_licence(root: Path) -> None:
    text = b"\n  LLAMA 3.1 COMMUNITY   LICENSE AGREEMENT\nVersion..."
    ollama_model(root, "library/llama3.1/8b", [(OLLAMA_MODEL, DATA), (OLLAMA_LICENCE, text)])
    assert only(root).licence == "LLAMA 3.1 COMMUNITY LICENSE AGREEMENT"


def test_delete_leaves_what_another_model_needs(root: Path) -> None:
    licence = (OLLAMA_LICENCE, b"MIT License")
    ollama_model(root, "library/a/1b", [(OLLAMA_MODEL, DATA), licence])
    kept = ollama_model(root, "library/b/1b", [(OLLAMA_MODEL, llama(name="b")), licence])
    model = next(model for model in look(root).models if model.name == "a:1b")
    plan = plan_deletion(model, root)
    assert plan.owner == "Ollama"
    assert "Ollama" in plan.notes[0]
    assert plan.frees_bytes >= model.frees_bytes > 0
    assert carry_out(plan, root) == plan.frees_bytes
    assert not model.path.exists()
    assert all(blob.exists() for blob in kept)
    assert [model.name for model in look(root).models] == ["b:1b"]


def test_delete_names_all_tags_that_go(root: Path) -> None:
    for tag in ("latest", "8b"):
        ollama_model(root, f"library/llama3/{tag}", [(OLLAMA_MODEL, DATA)])
    plan = plan_deletion(only(root), root)
    assert any("llama3:8b, llama3:latest" in note for note in plan.notes)
    carry_out(plan, root)
    assert look(root).models == ()
    assert ollama.is_ollama(root)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    data=st.binary(max_size=200)
    | st.sampled_from([b"null", b"[]", b'{"layers": null}', b'{"layers": [7]}', b"[" * 500])
)
def test_any_bytes_in_a_manifest_are_survived(root: Path, data: bytes) -> None:
    put(root / "manifests/registry.ollama.ai/library/x/1b", data)
    (root / "blobs").mkdir(exist_ok=True)
    assert look(root).models == ()
