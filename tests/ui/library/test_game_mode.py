"""The models page under fingers and a pad."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.game.reach import not_reached, small_targets
from tests.ui.library.conftest import Manager
from tests.ui.library.test_window import fill
from ui.library.window import DISCOVER, DOWNLOADS, LIBRARY
from ui.theme import Theme


@pytest.fixture
def touch(theme: Theme) -> None:
    theme.set_touch(True)


@pytest.mark.usefixtures("touch")
@pytest.mark.parametrize(
    ("number", "start"), [(DISCOVER, "discoverSearch"), (LIBRARY, "installedTable"), (DOWNLOADS, "limitsButton")]
)
@pytest.mark.slow
def test_arrows_reach_everything_and_targets_are_large(fake: Manager, number: int, start: str) -> None:
    fill(fake)
    fake.window.resize(1280, 700)
    fake.tab(number)
    QApplication.sendPostedEvents()
    assert small_targets(fake.window) == []
    assert not_reached(fake.window, fake.find(start)) == []
