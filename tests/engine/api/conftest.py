"""Models and scripted workers for the Python module."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fake_worker import worker_command
from tests.fakes.tiny_gguf import tiny_llama


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a few kilobytes for the real worker."""
    path = tmp_path_factory.mktemp("models") / "tiny.gguf"
    path.write_bytes(tiny_llama())
    return path


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: Path) -> Callable[..., Path]:
    """Every worker of this test plays this script; gives a file that it loads."""
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")

    def use(**script: Any) -> Path:
        monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command({"journal": str(journal), **script}, tmp_path))
        return model

    return use
