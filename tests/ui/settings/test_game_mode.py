"""The pages of the settings under fingers and a pad."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from tests.ui.game.reach import not_reached, small_targets
from tests.ui.settings.conftest import Settings
from ui.theme import Theme

PAGES = ("general", "conversations", "engine", "devices", "backends", "doctor", "about")


@pytest.fixture
def touched(theme: Theme, settings: Settings) -> Settings:
    theme.set_touch(True)
    settings.window.resize(1280, 700)
    settings.window.present()
    return settings


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.slow
def test_arrows_reach_everything_and_targets_are_large(touched: Settings, page: str) -> None:
    window = touched.window
    window.show_page(page)
    QApplication.sendPostedEvents()
    start = window.findChild(QWidget, f"settingsPage-{page}")
    assert start is not None
    assert small_targets(window) == []
    assert not_reached(window, start) == []
