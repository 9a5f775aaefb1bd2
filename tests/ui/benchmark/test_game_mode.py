"""The benchmark under fingers and a pad."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.benchmark.test_window import MakePage, make_page
from tests.ui.game.reach import not_reached, small_targets
from ui.theme import Theme

__all__ = ["make_page"]


@pytest.fixture
def touch(theme: Theme) -> None:
    theme.set_touch(True)


@pytest.mark.usefixtures("touch")
@pytest.mark.slow
def test_arrows_reach_everything_and_targets_are_large(make_page: MakePage) -> None:
    page = make_page("Qwen3 8B", bench={"speed": 41.2})
    page.window.resize(1280, 700)
    page.run()
    QApplication.sendPostedEvents()
    assert small_targets(page.window) == []
    assert not_reached(page.window, page.find("benchRun")) == []
    page.window.turn(1)
    assert not_reached(page.window, page.find("benchRun")) == []
