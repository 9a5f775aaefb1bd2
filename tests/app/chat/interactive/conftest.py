"""A scripted worker and a model for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.fake_worker import worker_command


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, journal: Path) -> Callable[..., str]:
    """The worker plays this script; gives a file that it loads."""
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")

    def use(**script: Any) -> str:
        monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", worker_command({"journal": str(journal), **script}, tmp_path))
        return str(model)

    return use
