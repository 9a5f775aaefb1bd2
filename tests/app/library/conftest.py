"""Fixtures of the library's tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from tests.app.library.world import World


@pytest.fixture
def world(qapp: QApplication, tmp_path: Path) -> Iterator[World]:
    parent = QObject()
    world = World(tmp_path, parent)
    yield world
    world.close()
    shiboken6.delete(parent)
