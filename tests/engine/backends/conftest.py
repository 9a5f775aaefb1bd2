"""Fixtures of the backends' tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.backends.played import Machine
from tests.engine.backends.toy_plugins import ToyPlugins, toys

__all__ = ["toys"]


@pytest.fixture
def machine(tmp_path: Path, toys: ToyPlugins) -> Machine:
    own, users = tmp_path / "own", tmp_path / "users"
    own.mkdir()
    users.mkdir()
    return Machine(toys, own, users)
