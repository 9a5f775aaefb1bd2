"""Another text size, live: the models window is laid out as one that began with it."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tests.ui.library.conftest import Manager
from tests.ui.library.fakes import installed, page, summary
from tests.ui.sizes import settle
from ui.library.window import DISCOVER, DOWNLOADS, LIBRARY, ModelManagerWindow
from ui.theme import Theme

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("before", "after"), [(1.0, 1.4), (1.4, 0.85)])
@pytest.mark.parametrize("tab", [DISCOVER, LIBRARY, DOWNLOADS])
def test_sizes_follow_at_once(fake: Manager, theme: Theme, qtbot: QtBot, tab: int, before: float, after: float) -> None:
    fake.library.set_models(installed("Qwen3-8B", "Q8_0", 8.7))
    live = fake.window
    live.resize(1180, 740)
    fake.tab(tab)
    focused = live.focusWidget()
    assert focused is not None
    focused.clearFocus()
    theme.set_scale(before)
    settle(qtbot, live)
    theme.set_scale(after)
    found = settle(qtbot, live)
    fresh = ModelManagerWindow(fake.parts)
    fresh.resize(1180, 740)
    fresh._tabs.setCurrentIndex(tab)
    fresh.show()
    assert found == settle(qtbot, fresh)
    fresh.close()
    fresh.deleteLater()


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_a_repository_fits_at_every_size(fake: Manager, theme: Theme, qtbot: QtBot, scale: float) -> None:
    theme.set_scale(scale)
    fake.window.resize(1180, 740)
    fake.tab(DISCOVER)
    fake.window.discover.bar.edit.setText("qwen")
    fake.hub.answer(summary("maker/Qwen3-8B-GGUF"))
    fake.window.discover.list.choose(0)
    fake.until(lambda: "open maker/Qwen3-8B-GGUF" in fake.hub.asked)
    fake.hub.give(page("maker/Qwen3-8B-GGUF", sees=True))
    settle(qtbot, fake.window)
    assert fake.window.size().width() == 1180
    view = fake.window.discover.pane._files.view
    assert view.horizontalScrollBar().maximum() == 0
