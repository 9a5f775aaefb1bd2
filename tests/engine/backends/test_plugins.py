"""Which plugin files are loaded, and what is said about those that are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from engine.backends.build_record import BuildRecord, read_build_record
from engine.backends.ggml import Ggml, mapped_library
from engine.backends.plugins import find_plugins, kind_of, load_plugins, loader_words
from engine.loading.why_cpu import missing_library


class FakeGgml:
    """Takes plugins whose content is their backend's name; refuses empty ones."""

    def __init__(self) -> None:
        self.loaded: list[str] = []

    def load(self, plugin: Path) -> str | None:
        self.loaded.append(plugin.name)
        return plugin.read_text() or None


def folder_with(root: Path, **files: str) -> Path:
    root.mkdir(exist_ok=True)
    for name, content in files.items():
        (root / f"lib{name.replace('_', '-')}.so").write_text(content)
    return root


NO_RECORD = BuildRecord()


def load(*folders: Path, build: BuildRecord = NO_RECORD) -> tuple[FakeGgml, dict[str, str | None]]:
    ggml = FakeGgml()
    infos = load_plugins(cast("Ggml", ggml), folders, build)
    return ggml, {info.name: info.error for info in infos}


def test_the_cpu_comes_last_and_base_libraries_are_no_plugins(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path, ggml="x", ggml_base="x", ggml_cpu="CPU", ggml_vulkan="Vulkan", ggml_rpc="RPC", llama="x"
    )
    ggml, found = load(folder)
    assert ggml.loaded == ["libggml-rpc.so", "libggml-vulkan.so", "libggml-cpu.so"]
    assert found == {"RPC": None, "Vulkan": None, "CPU": None}


def test_the_users_folder_adds_and_replaces(tmp_path: Path) -> None:
    own = folder_with(tmp_path / "own", ggml_hip="ROCm", ggml_vulkan="Vulkan")
    plugins = find_plugins([folder_with(tmp_path / "lib", ggml_vulkan="old", ggml_cpu="CPU"), own, tmp_path / "gone"])
    assert list(plugins) == ["hip", "vulkan", "cpu"]
    assert plugins["vulkan"] == [own / "libggml-vulkan.so"]


def test_a_plugin_that_the_loader_refuses_is_absent_with_its_words(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ggml_vulkan="", ggml_cpu="CPU")
    _, found = load(folder)
    assert found["CPU"] is None
    assert found["Vulkan"] is not None
    assert "libggml-vulkan.so" in found["Vulkan"]


def test_vulkan_that_was_not_built_says_why(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ggml_cpu="CPU")
    _, found = load(folder, build=BuildRecord(vulkan=False, vulkan_reason="glslc is too old"))
    assert found == {"Vulkan": "Vulkan was not built: glslc is too old", "CPU": None}


def test_variants_that_cannot_run_here(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, ggml_vulkan="Vulkan", ggml_cpu_haswell="", ggml_cpu_zen4="")
    ggml, found = load(folder)
    assert ggml.loaded == ["libggml-vulkan.so"]
    assert found["CPU"]


@pytest.mark.parametrize(
    ("name", "kind"), [("libggml-cpu-haswell.so", "cpu"), ("libggml-cpu.so", "cpu"), ("libggml-vulkan.so", "vulkan")]
)
def test_kinds(name: str, kind: str) -> None:
    assert kind_of(Path(name)) == kind


def test_the_loaders_own_words(tmp_path: Path) -> None:
    (tmp_path / "libno.so").write_text("no library")
    words = loader_words(tmp_path / "libno.so")
    assert words is not None
    assert "libno.so" in words
    assert loader_words(Path("libc.so.6")) is None


def test_the_missing_library() -> None:
    assert missing_library("libvulkan.so.1: cannot open shared object file: No such file") == "libvulkan.so.1"
    assert missing_library("/x/libggml-hip.so: undefined symbol: hipInit") is None


def test_build_record(tmp_path: Path) -> None:
    path = tmp_path / "build.json"
    assert read_build_record(path) == BuildRecord()
    path.write_text("{not json")
    assert read_build_record(path) == BuildRecord()
    path.write_text(json.dumps({"vulkan": False, "vulkan_reason": "no headers", "options": {}}))
    assert read_build_record(path) == BuildRecord(vulkan=False, vulkan_reason="no headers")


def test_the_library_that_is_mapped(tmp_path: Path) -> None:
    maps = tmp_path / "maps"
    maps.write_text(
        "7f00-7f01 r-xp 00000000 08:01 1   /opt/a b/libggml-base.so.0.25\n"
        "7f02-7f03 r-xp 00000000 08:01 2   /opt/a b/libggml.so.0.25\n"
        "7f04-7f05 rw-p 00000000 00:00 0\n"
    )
    assert mapped_library("libggml", maps) == Path("/opt/a b/libggml.so.0.25")
    assert mapped_library("libllama", maps) is None
    assert mapped_library("libggml", tmp_path / "gone") is None
