"""Another text size, live: everything is as large as in a window that began with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.notices import Action, Notice, Severity
from tests.ui.shell.conftest import MakeWindow, Window
from tests.ui.sizes import settle
from ui.theme import Theme

SIZES = [(1.0, 1.4), (1.4, 0.85), (0.85, 1.15), (1.15, 1.0), (0.85, 1.4)]
LONG = "A sentence that is long enough for two lines of a notice, and then some more words at its end. " * 2


def first_run(window: Window) -> None:
    """Nothing more: a window without a model."""


def chat(window: Window) -> None:
    """Everything that can be seen at once beside a conversation."""
    window.converse()
    window.window._composer._add_chip("a large text\n" * 100)
    window.window._composer._edit.setPlainText("one\ntwo\nthree")
    actions = (Action("Try again", lambda: None), Action("Models", lambda: None))
    window.services.notices.post(Notice("a", Severity.ERROR, LONG, "one\ntwo\nthree\nfour", actions))
    window.window._notice_bar.cards[0]._detail.show()


def loading(window: Window) -> None:
    """The progress in the header."""
    window.load()
    window.window._header._progress.show()


@pytest.mark.parametrize(("before", "after"), SIZES)
@pytest.mark.parametrize("dress", [first_run, chat, loading])
def test_sizes_follow_at_once(
    make_window: MakeWindow, qtbot: QtBot, theme: Theme, dress: Callable[[Window], None], before: float, after: float
) -> None:
    models = () if dress is first_run else ("Qwen3 8B",)
    theme.set_scale(before)
    live = make_window(*models)
    dress(live)
    settle(qtbot, live.window)
    live.window._kept.set_scale(after)
    found = settle(qtbot, live.window)
    fresh = make_window(*models)
    dress(fresh)
    assert found == settle(qtbot, fresh.window)


@pytest.mark.parametrize(("before", "after"), SIZES)
def test_the_send_button_is_never_cut(
    make_window: MakeWindow, qtbot: QtBot, theme: Theme, before: float, after: float
) -> None:
    theme.set_scale(before)
    window = make_window("Qwen3 8B")
    window.window._kept.set_scale(after)
    for name, busy in (("sendButton", False), ("stopButton", True)):
        window.window._composer.set_busy(busy)
        button = window.button(name)
        parent = button.parentWidget()
        assert parent is not None
        settle(qtbot, window.window)
        assert button.size() == button.sizeHint()
        assert parent.rect().contains(button.geometry())
        assert button.visibleRegion().boundingRect() == button.rect()
