"""A window that opens is never larger than its screen, and never smaller than it can be."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.first_size import FRAME, fit_screen


@pytest.mark.parametrize(
    ("screen", "size"),
    [
        (QSize(2560, 1440), QSize(1280, 800)),
        (QSize(1280, 800), QSize(1280, 800 - FRAME)),
        (QSize(1024, 640), QSize(1024, 640 - FRAME)),
        (QSize(800, 480), QSize(900, 600)),
    ],
    ids=str,
)
def test_the_screen_is_the_limit(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, screen: QSize, size: QSize) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    window.setMinimumSize(900, 600)
    monkeypatch.setattr(QScreen, "availableSize", lambda _self: screen)
    fit_screen(window, 1280, 800)
    assert window.size() == size
