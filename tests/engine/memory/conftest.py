from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.memory.records import MemorySnapshot
from engine.memory.sampler import MemorySampler
from engine.memory.tree import read_file
from tests.fakes.sysroot import build_sysroot

WORKER = 4242
"""Process id of the worker in the recorded trees."""


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str], Path]:
    """Expands a recorded machine into a folder of this test."""
    return lambda name: build_sysroot(name, tmp_path / name)


class Recorder:
    """Reads files, remembering which, and failing where told."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.opened: list[str] = []
        self.errors: dict[str, int] = {}

    def __call__(self, path: str) -> bytes:
        resolved = str(Path(path).resolve().relative_to(self.root.resolve()))
        self.opened.append(resolved)
        for ending, number in self.errors.items():
            if resolved.endswith(ending):
                raise OSError(number, os.strerror(number))
        return read_file(path)


def sample(root: Path, worker: int | None = WORKER) -> MemorySnapshot:
    """One sample by a fresh reader, comparable with others."""
    return MemorySampler(root, clock=lambda: 0.0, own=0).sample(worker, whole=True)
