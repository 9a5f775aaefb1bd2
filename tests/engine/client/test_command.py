"""Command line and environment of the worker process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.client.command import worker_command, worker_environment
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
