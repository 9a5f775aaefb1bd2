"""Another text size, live: the model manager is laid out as one that began with it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.library.conftest import Manager
from tests.ui.sizes import settle
from ui.library.window import DOWNLOADS, GET, INSTALLED, ModelManagerWindow
from ui.theme import Theme


@pytest.mark.parametrize(("before", "after"), [(1.0, 1.4), (1.4, 0.85)])
@pytest.mark.parametrize("tab", [INSTALLED, GET, DOWNLOADS])
@pytest.mark.usefixtures("filled")
def test_sizes_follow_at_once(
    manager: Manager, theme: Theme, qtbot: QtBot, tab: int, before: float, after: float
) -> None:
    live = manager.window
    live.resize(1180, 740)
    live._tabs.setCurrentIndex(tab)
    theme.set_scale(before)
    settle(qtbot, live)
    theme.set_scale(after)
    found = settle(qtbot, live)
    fresh = ModelManagerWindow(manager.library, manager.downloads, manager.worker, theme)  # type: ignore[arg-type]
    fresh.resize(1180, 740)
    fresh._tabs.setCurrentIndex(tab)
    fresh.show()
    manager.until(lambda: not manager.library.scanning)
    assert found == settle(qtbot, fresh)
    fresh.close()
    fresh.deleteLater()
