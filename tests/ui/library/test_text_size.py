"""Another text size, live: the models window is laid out as one that began with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.downloads.records import JobState
from engine.library.roots import LibraryRoot, RootKind
from tests.ui.library.conftest import Manager
from tests.ui.library.fakes import ROOTS, installed, job, page, root_info, summary
from tests.ui.sizes import settle
from ui.library.discover.folding import FACTS, fold
from ui.library.discover.found import Heading
from ui.library.keep.roots_list import RootsDelegate, RootsList
from ui.library.window import DISCOVER, DOWNLOADS, LIBRARY, ModelManagerWindow
from ui.theme import Theme
from ui.widgets.elided_label import ElidedLabel

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


@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_list_cuts_no_facts(fake: Manager, theme: Theme, qtbot: QtBot, scale: float) -> None:
    """They take another line instead, and the rows are as high as that."""
    theme.set_scale(scale)
    fake.window.resize(1280, 800)
    fake.tab(DISCOVER)
    found = fake.window.discover.list
    settle(qtbot, fake.window)
    small = QFontMetrics(theme.font(0.9))
    bold = QFontMetrics(theme.font(bold=True))
    for number, row in enumerate(found.found.rows):
        height = found.visualRect(found.found.index(number, 0)).height()
        title, text = found.delegate._heading(row) if isinstance(row, Heading) else ([], found.delegate._facts(row))
        width = found.delegate._width()
        assert max((bold.horizontalAdvance(line) for line in title), default=0) <= width
        assert max((small.horizontalAdvance(line) for line in text), default=0) <= width
        lines = len(title) + len(text) if isinstance(row, Heading) else 1 + len(text)
        assert height >= lines * small.height()


def test_a_narrower_list_has_higher_rows(fake: Manager, qtbot: QtBot) -> None:
    fake.tab(DISCOVER)
    found = fake.window.discover.list
    last = found.found.index(found.found.rowCount() - 1, 0)
    heights = []
    for left in (600, 190):
        fake.window.discover._split.setSizes([left, 900 - left])
        settle(qtbot, fake.window)
        heights.append(found.visualRect(last).height())
    assert heights[0] < heights[1]


def test_the_sum_of_downloads_is_whole(fake: Manager, theme: Theme, qtbot: QtBot) -> None:
    theme.set_scale(1.5)
    fake.window.resize(1280, 800)
    fake.downloads.set_jobs(
        *(
            job(number, "a/b", f"{number}.gguf", JobState.LOADING, done=9 * 10**9, total=3 * 10**10, speed=4.6e7)
            for number in range(1, 4)
        )
    )
    fake.tab(DOWNLOADS)
    settle(qtbot, fake.window)
    line = fake.find("downloadsSum", ElidedLabel)
    assert "MB/s" in line.text()
    assert not line.is_cut()


def test_a_message_lies_beside_its_button(fake: Manager, theme: Theme, qtbot: QtBot) -> None:
    """As wide as the page, not as narrow as the list."""
    theme.set_scale(1.5)
    fake.window.resize(1280, 800)
    fake.tab(DISCOVER)
    fake.window.discover.bar.edit.setText("qwen")
    fake.hub.fail("hub-rate-limited", "The Hub gets too many requests from this address.")
    settle(qtbot, fake.window)
    slot = fake.window.discover._messages
    text = next(label for label in slot.findChildren(QLabel) if "too many" in label.text())
    button = next(b for b in slot.findChildren(QPushButton) if b.text() == "Try again")
    assert text.fontMetrics().horizontalAdvance(text.text()) <= text.width()
    assert not text.geometry().intersects(button.geometry())


@given(
    facts=st.lists(st.text("abc 1.", min_size=1, max_size=12).filter(str.strip), max_size=8),
    width=st.integers(1, 400),
    most=st.integers(1, 3),
)
def test_folding_loses_nothing(qapp: QApplication, facts: list[str], width: int, most: int) -> None:
    metrics = QFontMetrics(QFont())
    text = FACTS.join(facts)
    lines = fold(text, width, metrics, FACTS, most)
    assert FACTS.join(lines) == text
    assert len(lines) <= most
    for line in lines[:-1]:
        assert FACTS not in line or metrics.horizontalAdvance(line) <= width


@pytest.mark.parametrize("scale", [1.0, 1.5, 2.0])
def test_the_folders_cut_no_text(fake: Manager, theme: Theme, qtbot: QtBot, scale: float) -> None:
    """Names and figures take another line instead, and the rows are as high as that."""
    theme.set_scale(scale)
    fake.window.resize(1280, 800)
    cache = LibraryRoot(kind=RootKind.HUB_CACHE, path="/home/deck/.cache/huggingface/hub")
    full = {"models": 2000, "files": 2103, "n_bytes": 8_123_456_789_012}
    fake.library.roots = (*ROOTS, root_info(cache, "Hugging Face Hub cache", **full))
    fake.tab(LIBRARY)
    fake.library.roots_changed.emit()
    settle(qtbot, fake.window)
    folders = fake.find("rootsList", RootsList)
    delegate = folders.itemDelegate()
    assert isinstance(delegate, RootsDelegate)
    bold, small = QFontMetrics(theme.font(bold=True)), QFontMetrics(theme.font(0.9))
    for number in range(folders.model().rowCount()):
        index = folders.model().index(number, 0)
        title, below = delegate.texts(index)
        assert max(bold.horizontalAdvance(line) for line in title) <= delegate.width()
        assert max(small.horizontalAdvance(line) for line in below) <= delegate.width()
        assert folders.visualRect(index).height() >= bold.height() * len(title) + small.height() * len(below)


@pytest.mark.parametrize(("scale", "text"), [(1.0, "Find duplicates"), (1.5, "Duplicates")])
def test_the_search_keeps_its_room(fake: Manager, theme: Theme, qtbot: QtBot, scale: float, text: str) -> None:
    fake.library.set_models(installed("A", "Q8_0", 1), installed("B", "Q8_0", 1))
    fake.window.resize(1180, 740)
    fake.tab(LIBRARY)
    theme.set_scale(scale)
    settle(qtbot, fake.window)
    button, search = fake.find("findDuplicatesButton", QPushButton), fake.find("searchEdit", QLineEdit)
    assert button.text() == text
    assert "Find duplicates" in (button.text(), button.accessibleName())
    words = QFontMetrics(search.font()).horizontalAdvance("Search these models")
    assert search.width() > words
    theme.set_scale(1.0)
    settle(qtbot, fake.window)
    assert button.text() == "Find duplicates"
