"""The real process ends with 0, soon, and leaves nothing running, whatever it was doing."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from app.paths import find_paths
from tests.fakes.fake_worker import worker_command
from tests.fakes.tiny_gguf import tiny_llama

DRIVER = Path(__file__).parent / "quit_driver.py"
PATIENCE = 60.0
"""Seconds for the start on a busy machine; only what follows is limited tightly."""

ENDLESS = {"load": {"delay": 0.01}, "generate": {"text": "word " * 20_000, "delay": 0.005}}
STUBBORN = {"load": {"delay": 60.0, "steps": 50}, "ignore_sigterm": True, "ignore_cancel": True, "eof": "ignore"}
SLOW_LOAD = {"load": {"delay": 1.0, "steps": 100}}


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (OSError, ValueError):
                continue
            if fields[1] == str(pid) and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def end(tmp_path: Path, state: str, how: str, script: dict[str, Any]) -> tuple[int, str]:
    """Start, reach ``state``, end by ``how``; the exit code and what was written on stderr."""
    folder = find_paths().models / "owner" / "repo"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Tiny-F32.gguf").write_bytes(tiny_llama(name="Tiny"))
    environ = {**os.environ, "VRAMBLE_WORKER_COMMAND": worker_command(script, tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    errors = (tmp_path / "stderr").open("w+")
    with (
        errors,
        subprocess.Popen(
            [sys.executable, "-P", str(DRIVER), state, how],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        begun = time.monotonic()
        started = children_of(process.pid)
        try:
            code = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        assert line == "reached\n", Path(errors.name).read_text()
        assert time.monotonic() - begun < 45, "it must not wait for work that goes on, which takes 100"
        assert [pid for pid in started if Path(f"/proc/{pid}").exists()] == []
        return code, Path(errors.name).read_text()


@pytest.mark.parametrize(
    ("state", "how", "script"),
    [
        ("idle", "SIGTERM", ENDLESS),
        ("generating", "close", ENDLESS),
        pytest.param("generating", "SIGINT", ENDLESS, marks=pytest.mark.slow),
        pytest.param("generating", "SIGTERM", ENDLESS, marks=pytest.mark.slow),
        pytest.param("loading", "SIGTERM", SLOW_LOAD, marks=pytest.mark.slow),
        pytest.param("loading", "SIGINT", STUBBORN, marks=pytest.mark.slow),
        pytest.param("downloading", "SIGTERM", ENDLESS, marks=pytest.mark.slow),
        pytest.param("downloading", "close", ENDLESS, marks=pytest.mark.slow),
        pytest.param("scanning", "SIGTERM", ENDLESS, marks=pytest.mark.slow),
    ],
)
def test_the_program_ends_cleanly(tmp_path: Path, state: str, how: str, script: dict[str, Any]) -> None:
    code, errors = end(tmp_path, state, how, script)
    assert code == 0, errors
    assert "QThread" not in errors
    assert "Traceback" not in errors
    assert "already deleted" not in errors
