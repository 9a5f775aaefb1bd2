"""Command line and environment of the worker process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.client.command import OVERLAY_LAYERS, overlays_kept_away, worker_command, worker_environment
from engine.own_process import source_root


def test_the_worker_is_this_python_without_the_working_folder() -> None:
    command = worker_command(environ={})
    assert command.arguments == (sys.executable, "-P", "-m", "engine.worker")


def test_replacement_is_split_as_a_shell_would() -> None:
    command = worker_command(environ={"VRAMBLE_WORKER_COMMAND": "/bin/echo 'two words' three"})
    assert command.arguments == ("/bin/echo", "two words", "three")


def test_overlay_layers_are_off() -> None:
    environment = worker_environment({"MANGOHUD": "1", "ENABLE_VKBASALT": "1", "OBS_VKCAPTURE": "1", "HOME": "/h"})
    assert not environment.keys() & {"MANGOHUD", "ENABLE_VKBASALT", "OBS_VKCAPTURE"}
    assert environment["DISABLE_MANGOHUD"] == "1"
    assert environment["DISABLE_VKBASALT"] == "1"
    assert environment["DISABLE_VK_LAYER_VALVE_steam_overlay_1"] == "1"
    assert environment["HOME"] == "/h"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "glibc.malloc.hugetlb=1"),
        ("glibc.malloc.arena_max=1", "glibc.malloc.arena_max=1:glibc.malloc.hugetlb=1"),
        ("glibc.malloc.hugetlb=0", "glibc.malloc.hugetlb=0"),
    ],
)
def test_huge_pages_unless_somebody_decided_otherwise(before: str | None, after: str) -> None:
    environ = {} if before is None else {"GLIBC_TUNABLES": before}
    assert worker_environment(environ)["GLIBC_TUNABLES"] == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", None),
        ("/s/ubuntu12_32/gameoverlayrenderer.so:/s/ubuntu12_64/gameoverlayrenderer.so", None),
        (":/s/gameoverlayrenderer.so", None),
        ("/usr/lib/libjemalloc.so:/s/gameoverlayrenderer.so", "/usr/lib/libjemalloc.so"),
        ("/usr/lib/libMangoHud.so /usr/lib/a.so", "/usr/lib/a.so"),
        ("/a.so /b.so:/c.so", "/a.so:/b.so:/c.so"),
    ],
)
def test_preload_loses_overlays_only(before, after) -> None:
    assert worker_environment({"LD_PRELOAD": before}).get("LD_PRELOAD") == after


def test_what_was_kept_away_can_be_told() -> None:
    environ = {
        "MANGOHUD": "1",
        "OBS_VKCAPTURE": "",
        "LD_PRELOAD": "/s/32/gameoverlayrenderer.so:/s/64/gameoverlayrenderer.so:/usr/lib/libjemalloc.so",
        "HOME": "/h",
    }
    assert overlays_kept_away(environ) == ("MANGOHUD=1", "gameoverlayrenderer.so")
    assert overlays_kept_away({"LD_PRELOAD": "/usr/lib/libjemalloc.so"}) == ()


def test_layers_that_the_user_leaves_out_stay_out() -> None:
    value = worker_environment({"VK_LOADER_LAYERS_DISABLE": "*validation*"})["VK_LOADER_LAYERS_DISABLE"]
    assert value.split(",") == ["*validation*", *OVERLAY_LAYERS]


LAYERS = (
    "VK_LAYER_MANGOHUD_overlay_x86_64",
    "VK_LAYER_VKBASALT_post_processing",
    "VK_LAYER_VALVE_steam_overlay_64",
    "VK_LAYER_VALVE_steam_fossilize_64",
    "VK_LAYER_OBS_vkcapture_64",
    "VK_LAYER_FROG_gamescope_wsi_x86_64",
)
HARMLESS = "VK_LAYER_TEST_harmless"
LISTING = """
import ctypes
vulkan = ctypes.CDLL("libvulkan.so.1")
count = ctypes.c_uint32()
assert vulkan.vkEnumerateInstanceLayerProperties(ctypes.byref(count), None) == 0
size = 256 + 4 + 4 + 256
found = ctypes.create_string_buffer(size * max(1, count.value))
assert vulkan.vkEnumerateInstanceLayerProperties(ctypes.byref(count), found) == 0
for number in range(count.value):
    print(found.raw[number * size :][:256].partition(bytes(1))[0].decode())
"""
"""Prints the layers that the Vulkan loader would use; VkLayerProperties is two texts of 256 and two numbers of 4."""


def layers_seen(environ: dict[str, str]) -> set[str]:
    done = subprocess.run([sys.executable, "-c", LISTING], env=environ, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_vulkan_loader_leaves_overlays_out_whatever_switches_them_on(tmp_path: Path) -> None:
    """Manifests whose variables nobody here knows: the loader goes by the names of the layers."""
    folder = tmp_path / "vulkan/implicit_layer.d"
    folder.mkdir(parents=True)
    for name in (*LAYERS, HARMLESS):
        layer = {
            "name": name,
            "type": "GLOBAL",
            "library_path": "libnowhere.so",
            "api_version": "1.3.0",
            "implementation_version": "1",
            "description": "a test",
            "disable_environment": {"DISABLE_NOBODY_KNOWS": "1"},
        }
        (folder / f"{name}.json").write_text(json.dumps({"file_format_version": "1.0.0", "layer": layer}))
    environ = {"PATH": os.environ["PATH"], "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    try:
        before = layers_seen(environ)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no Vulkan loader: {error.stderr[-200:]}")
    assert {*LAYERS, HARMLESS} <= before
    after = layers_seen(worker_environment(environ))
    assert HARMLESS in after
    assert not after & set(LAYERS)


def test_backends_folder_is_passed_on_unless_the_user_named_one() -> None:
    assert worker_environment({}, Path("/b"))["VRAMBLE_BACKENDS_DIR"] == "/b"
    assert worker_environment({"VRAMBLE_BACKENDS_DIR": "/mine"}, Path("/b"))["VRAMBLE_BACKENDS_DIR"] == "/mine"
    assert "VRAMBLE_BACKENDS_DIR" not in worker_environment({})


def test_the_environment_of_this_process_stays_as_it_is(monkeypatch) -> None:
    monkeypatch.setenv("MANGOHUD", "1")
    worker_command()
    assert os.environ["MANGOHUD"] == "1"


def test_the_worker_finds_the_engine_from_any_folder(tmp_path: Path) -> None:
    environment = worker_environment({"PYTHONPATH": "/elsewhere", "PATH": os.environ["PATH"]})
    code = "import engine.worker, sys; print(engine.worker.__file__); print('/elsewhere' in sys.path)"
    shown = subprocess.run(
        [sys.executable, "-P", "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    file, kept = shown.stdout.split()
    assert Path(file).parents[2] == source_root()
    assert kept == "True"
