"""Where other programs keep their models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.library.places import find_places
from engine.library.roots import RootKind
from engine.library.surroundings import Surroundings, here
from tests.fakes.model_homes import machine, put

Make = Callable[[Surroundings], Path]


def found(around: Surroundings) -> dict[RootKind, list[str]]:
    kinds: dict[RootKind, list[str]] = {}
    for root in find_places(around):
        kinds.setdefault(root.kind, []).append(root.path)
    return kinds


def filled(path: Path) -> Path:
    put(path / "something", b"x")
    return path


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    assert found(machine(tmp_path)) == {}


def test_an_empty_folder_is_no_library(tmp_path: Path) -> None:
    around = machine(tmp_path)
    (around.home / ".lmstudio/models").mkdir(parents=True)
    assert found(around) == {}


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (RootKind.HUB_CACHE, ".cache/huggingface/hub"),
        (RootKind.LM_STUDIO, ".lmstudio/models"),
        (RootKind.LM_STUDIO, ".cache/lm-studio/models"),
        (RootKind.OLLAMA, ".ollama/models"),
        (RootKind.OLLAMA, ".var/app/com.jeffser.Alpaca/data/.ollama/models"),
        (RootKind.JAN, ".local/share/Jan/data/llamacpp/models"),
        (RootKind.JAN, ".var/app/ai.jan.Jan/data/Jan/data/llamacpp/models"),
        (RootKind.GPT4ALL, ".local/share/nomic.ai/GPT4All"),
        (RootKind.GPT4ALL, ".var/app/io.gpt4all.gpt4all/data/nomic.ai/GPT4All"),
        (RootKind.LLAMA_CPP, ".cache/llama.cpp"),
    ],
)
def test_the_usual_places_in_the_home_folder(tmp_path: Path, kind: RootKind, place: str) -> None:
    around = machine(tmp_path)
    path = filled(around.home / place)
    assert found(around) == {kind: [str(path)]}


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (RootKind.OLLAMA, "usr/share/ollama/.ollama/models"),
        (RootKind.OLLAMA, "var/lib/ollama/models"),
        (RootKind.OLLAMA, "var/snap/ollama/common/models"),
        (RootKind.LEMONADE, "var/lib/lemonade/.cache/huggingface/hub"),
    ],
)
def test_the_usual_places_of_services(tmp_path: Path, kind: RootKind, place: str) -> None:
    around = machine(tmp_path)
    path = filled(around.system / place)
    assert found(around) == {kind: [str(path)]}


@pytest.mark.parametrize(
    ("kind", "variable", "inside"),
    [
        (RootKind.HUB_CACHE, "HF_HOME", "hub"),
        (RootKind.HUB_CACHE, "HF_HUB_CACHE", ""),
        (RootKind.HUB_CACHE, "HUGGINGFACE_HUB_CACHE", ""),
        (RootKind.HUB_CACHE, "XDG_CACHE_HOME", "huggingface/hub"),
        (RootKind.OLLAMA, "OLLAMA_MODELS", ""),
        (RootKind.LLAMA_CPP, "LLAMA_CACHE", ""),
        (RootKind.JAN, "XDG_DATA_HOME", "Jan/data/llamacpp/models"),
    ],
)
def test_variables_name_other_places(tmp_path: Path, kind: RootKind, variable: str, inside: str) -> None:
    other = tmp_path / "other drive"
    around = machine(tmp_path, {variable: str(other)})
    path = filled(other / inside)
    assert found(around) == {kind: [str(path)]}


def lm_studio(around: Surroundings) -> Path:
    path = filled(around.home / "big/models")
    put(around.home / ".lmstudio/settings.json", json.dumps({"downloadsFolder": str(path)}).encode())
    return path


def lm_studio_pointer(around: Surroundings) -> Path:
    put(around.home / ".lmstudio-home-pointer", str(around.home / "elsewhere").encode() + b"\n")
    return filled(around.home / "elsewhere/models")


def jan(around: Surroundings) -> Path:
    put(around.home / ".config/Jan/settings.json", json.dumps({"data_folder": str(around.home / "jan")}).encode())
    return filled(around.home / "jan/llamacpp/models")


def gpt4all(around: Surroundings) -> Path:
    put(around.home / ".config/nomic.ai/GPT4All.ini", f"[General]\nmodelPath={around.home}/g4a/\n".encode())
    return filled(around.home / "g4a")


def lemonade(around: Surroundings) -> Path:
    put(around.home / ".config/lemonade/config.json", json.dumps({"models_dir": "auto"}).encode())
    put(around.home / ".cache/lemonade/config.json", json.dumps({"models_dir": "~/lemonade"}).encode())
    return filled(around.home / "lemonade")


def read_by_lemonade(around: Surroundings) -> Path:
    put(around.home / ".config/lemonade/config.json", json.dumps({"extra_models_dir": "~/gguf"}).encode())
    return filled(around.home / "gguf")


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (RootKind.LM_STUDIO, lm_studio),
        (RootKind.LM_STUDIO, lm_studio_pointer),
        (RootKind.JAN, jan),
        (RootKind.GPT4ALL, gpt4all),
        (RootKind.LEMONADE, lemonade),
        (RootKind.FOLDER, read_by_lemonade),
    ],
)
def test_their_own_settings_name_other_places(tmp_path: Path, kind: RootKind, make: Make) -> None:
    around = machine(tmp_path)
    path = make(around)
    assert found(around) == {kind: [str(path)]}


def test_an_ollama_that_has_its_models_in_its_home(tmp_path: Path) -> None:
    around = machine(tmp_path)
    put(around.system / "var/lib/ollama/id_ed25519", b"x")
    assert found(around) == {}
    filled(around.system / "var/lib/ollama/manifests")
    assert found(around) == {RootKind.OLLAMA: [str(around.system / "var/lib/ollama")]}


def test_a_folder_that_two_programs_share_is_found_once(tmp_path: Path) -> None:
    around = machine(tmp_path)
    path = filled(around.home / ".lmstudio/models")
    put(around.home / ".config/lemonade/config.json", json.dumps({"extra_models_dir": str(path)}).encode())
    (around.home / ".cache").mkdir()
    (around.home / ".cache/llama.cpp").symlink_to(path)
    assert found(around) == {RootKind.LM_STUDIO: [str(path)]}


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"\xff\xfe", b"{" * 2000, b'{"downloadsFolder": 7}', b'{"downloadsFolder": "\\u0000"}']
)
def test_odd_settings_files_are_survived(tmp_path: Path, data: bytes) -> None:
    around = machine(tmp_path)
    put(around.home / ".lmstudio/settings.json", data)
    put(around.home / ".lmstudio-home-pointer", data)
    put(around.home / ".config/nomic.ai/GPT4All.ini", data)
    assert found(around) == {}


@pytest.mark.parametrize("variables", [{}, {"HOST_XDG_DATA_HOME": "data on the host"}])
def test_a_sandbox_looks_outside_of_itself(tmp_path: Path, variables: dict[str, str]) -> None:
    inside = {"FLATPAK_ID": "org.example.Vramble", "XDG_DATA_HOME": str(tmp_path / "sandbox/data")}
    around = machine(tmp_path, inside | {name: str(tmp_path / place) for name, place in variables.items()})
    data = tmp_path / "data on the host" if variables else around.home / ".local/share"
    filled(tmp_path / "sandbox/data/Jan/data/llamacpp/models")
    assert found(around) == {}
    path = filled(data / "Jan/data/llamacpp/models")
    assert found(around) == {RootKind.JAN: [str(path)]}


def test_here_is_the_home_folder_of_the_environment(tmp_path: Path) -> None:
    around = here({"HOME": str(tmp_path), "VRAMBLE_SYSROOT": "/recorded"})
    assert (around.home, around.system) == (tmp_path, Path("/recorded"))
