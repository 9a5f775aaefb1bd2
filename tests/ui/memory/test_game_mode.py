"""The memory page under fingers and a pad."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.memory.records import MemorySnapshot
from tests.ui.game.reach import not_reached, small_targets
from tests.ui.memory.conftest import model_on
from tests.ui.memory.stage import window_on
from ui.theme import Theme


@pytest.mark.parametrize("machine", ["steam_deck", "rx7900xtx"])
@pytest.mark.slow
def test_arrows_reach_everything_and_targets_are_large(
    theme: Theme, qtbot: QtBot, recorded: dict[str, MemorySnapshot], machine: str
) -> None:
    theme.set_touch(True)
    window, *_rest = window_on(theme, recorded[machine], model_on(None), history=True)
    qtbot.addWidget(window)
    window.resize(1280, 700)
    window.present()
    qtbot.waitExposed(window)
    QApplication.sendPostedEvents()
    window.focus()
    start = window.focusWidget()
    assert small_targets(window) == []
    assert not_reached(window, start) == []
