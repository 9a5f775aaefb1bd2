"""Runs `vramble` as a user does: another process, its exit code and what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fake_worker import worker_command

VRAMBLE = (sys.executable, "-P", "-m", "app.main")


@pytest.fixture
def fake_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Every worker of this test plays this script."""

    def use(**script: Any) -> None:
        monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command(script, tmp_path))

    use()
    return use


@pytest.fixture
def model(tmp_path: Path) -> str:
    """A file that the fake worker loads."""
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"GGUF")
    return str(path)


@pytest.fixture
def vramble(repository: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """``vramble(*arguments, input=...)``; output as text."""

    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*VRAMBLE, *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            cwd=repository,
            env=dict(os.environ),
            check=False,
        )

    return run


def one_line(text: str) -> str:
    """The only line of ``text``."""
    (line,) = text.splitlines()
    return line
