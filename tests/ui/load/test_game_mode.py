"""The load dialog under fingers and a pad."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from tests.ui.game.reach import not_reached, small_targets
from tests.ui.load.conftest import OpenDialog
from ui.theme import Theme


@pytest.fixture
def touch(theme: Theme) -> None:
    theme.set_touch(True)


@pytest.mark.usefixtures("touch")
@pytest.mark.parametrize("advanced", [False, True])
@pytest.mark.slow
def test_arrows_reach_everything_and_targets_are_large(open_dialog: OpenDialog, advanced: bool) -> None:
    opened = open_dialog()
    if advanced:
        opened.dialog.show_advanced()
    opened.dialog.resize(1280, 700)
    QApplication.sendPostedEvents()
    assert small_targets(opened.dialog) == []
    assert not_reached(opened.dialog, opened.find("n_ctxSlider")) == []
