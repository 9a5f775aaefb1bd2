"""Icon buttons have names, labels are cut and tell so, progress does not flicker."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.theme import TARGET_SIZE, Theme, ThemeMode
from ui.widgets.elided_label import ElidedLabel
from ui.widgets.empty_state import EmptyState
from ui.widgets.icon_button import IconButton
from ui.widgets.late import LateVisibility
from ui.widgets.text_button import ElidedButton, TextButton
from ui.widgets.wrapped_label import WrappedLabel


def test_an_icon_button_is_named_and_large_enough(qtbot: QtBot, theme: Theme) -> None:
    button = IconButton(theme, "copy", "Copy answer", shortcut="Ctrl+C")
    qtbot.addWidget(button)
    button.show()
    assert button.accessibleName() == "Copy answer"
    assert button.toolTip() == "Copy answer (Ctrl+C)"
    assert (button.width(), button.height()) == (TARGET_SIZE, TARGET_SIZE)
    with pytest.raises(ValueError):
        button.set_name(" ")


def test_a_text_that_came_while_it_was_away_is_cut_to_its_room(qtbot: QtBot, theme: Theme) -> None:
    page = QWidget()
    button = ElidedButton(theme, parent=page, role="quiet", beside=54, least=40, most=460)
    qtbot.addWidget(page)
    page.show()
    button.set_full_text("A Radeon", shorter=())
    button.resize(theme.px(180), button.sizeHint().height())
    button.hide()
    button.set_full_text("A Radeon · Vulkan · 20.0 tok/s, and more", shorter=("A Radeon · Vulkan", "A Radeon"))
    button.show()
    room = button.width() - 2 * theme.px(8)
    assert button.fontMetrics().horizontalAdvance(button.text()) <= room
    assert button.text() == "A Radeon · Vulkan"


@pytest.mark.parametrize("role", ["", "primary", "danger", "quiet"])
def test_the_focus_changes_no_size(qtbot: QtBot, theme: Theme, role: str) -> None:
    button = TextButton(theme, "Try it", "play", role=role)
    qtbot.addWidget(button)
    button.show()
    button.activateWindow()
    qtbot.waitUntil(button.isActiveWindow)
    button.clearFocus()
    before = button.sizeHint()
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    assert button.sizeHint() == before


@pytest.mark.parametrize("role", ["nav", "quiet", "fold"])
def test_the_keyboards_focus_is_a_ring_and_no_second_frame(qtbot: QtBot, theme: Theme, role: str) -> None:
    """Qt's own frame around the contents would be drawn after a Tab."""
    page = QWidget()
    layout = QVBoxLayout(page)
    buttons = [TextButton(theme, " ", role=role) for _ in range(2)]
    for button in buttons:
        button.setFixedWidth(200)
        layout.addWidget(button)
    qtbot.addWidget(page)
    page.show()
    page.activateWindow()
    qtbot.waitUntil(page.isActiveWindow)
    buttons[0].setFocus()
    qtbot.keyClick(buttons[0], Qt.Key.Key_Tab)
    qtbot.waitUntil(buttons[1].hasFocus)
    image = buttons[1].grab().toImage()
    middle = image.height() // 2
    inside = {image.pixelColor(x, middle).name() for x in range(8, image.width() - 8)}
    assert len(inside) == 1


def test_an_empty_state_wraps_its_words_in_a_narrow_room(qtbot: QtBot, theme: Theme) -> None:
    stack = QStackedWidget()
    stack.setMinimumWidth(1)
    state = EmptyState(theme, "copy", "Nothing was found", "Fewer words find more. " * 6)
    stack.addWidget(state)
    qtbot.addWidget(stack)
    stack.setFixedSize(260, 500)
    stack.show()
    qtbot.waitExposed(stack)
    texts = [label for label in state.findChildren(WrappedLabel) if label.text()]
    qtbot.waitUntil(lambda: all(state.rect().contains(label.geometry()) for label in texts))
    stack.setFixedSize(900, 500)
    qtbot.waitUntil(lambda: all(label.width() == theme.px(460) for label in texts))


@pytest.mark.parametrize("scale", [0.85, 1.4])
def test_targets_hold_at_every_text_size(qtbot: QtBot, theme: Theme, scale: float) -> None:
    theme.set_scale(scale)
    button = IconButton(theme, "copy", "Copy")
    qtbot.addWidget(button)
    button.show()
    assert button.width() == button.height() >= TARGET_SIZE


def test_icons_follow_the_theme(qtbot: QtBot, theme: Theme) -> None:
    button = IconButton(theme, "copy", "Copy")
    qtbot.addWidget(button)
    before = button.icon().cacheKey()
    theme.set_mode(ThemeMode.DARK)
    assert button.icon().cacheKey() != before


def test_a_cut_label_shows_everything_as_plain_tooltip(qtbot: QtBot, theme: Theme) -> None:
    label = ElidedLabel("a <b>bold</b> title\nthat is much longer than the label is wide")
    qtbot.addWidget(label)
    label.resize(100, 30)
    label.show()
    assert label.is_cut()
    assert "\n" not in label.text()
    assert "&lt;b&gt;" in label.toolTip()
    label.resize(900, 30)
    assert not label.is_cut()
    assert label.toolTip() == ""


def test_short_work_shows_no_progress(qtbot: QtBot) -> None:
    bar = QLabel("working")
    qtbot.addWidget(bar)
    late = LateVisibility(bar, delay_ms=60_000, stay_ms=1)
    late.show()
    late.hide()
    assert bar.isHidden()
    assert not late.wanted


def test_progress_that_appeared_stays_a_while(qtbot: QtBot) -> None:
    bar = QLabel("working")
    qtbot.addWidget(bar)
    late = LateVisibility(bar, delay_ms=0, stay_ms=150)
    late.show()
    qtbot.waitUntil(lambda: not bar.isHidden())
    late.hide()
    assert not bar.isHidden()
    qtbot.waitUntil(bar.isHidden)


def test_progress_that_goes_on_again_is_not_hidden(qtbot: QtBot) -> None:
    bar = QLabel("working")
    qtbot.addWidget(bar)
    late = LateVisibility(bar, delay_ms=0, stay_ms=50)
    late.show()
    qtbot.waitUntil(lambda: not bar.isHidden())
    late.hide()
    late.show()
    qtbot.wait(120)
    assert not bar.isHidden()


@pytest.mark.parametrize("scale", [0.85, 1.0, 1.4])
def test_paragraphs_are_never_cut(qtbot: QtBot, theme: Theme, scale: float) -> None:
    theme.set_scale(scale)
    text = "A sentence that is long enough to need several lines in a narrow column of text. " * 3
    state = EmptyState(theme, "stack", "Nothing here", text, (QPushButton("Get one"),))
    qtbot.addWidget(state)
    state.resize(700, 600)
    state.show()
    labels = state.findChildren(WrappedLabel)
    assert len(labels) == 2
    qtbot.waitUntil(lambda: all(label.height() >= label.heightForWidth(label.width()) for label in labels))
