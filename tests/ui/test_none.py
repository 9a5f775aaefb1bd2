"""Case 118: this pair of PySide6 and Python keeps count of None."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

CALLS = 20_000


def test_case_118_calls_that_return_nothing_take_no_none_away(qtbot: QtBot) -> None:
    label = QLabel()
    qtbot.addWidget(label)
    before = sys.getrefcount(None)
    for _ in range(CALLS):
        label.setText("")
        label.setObjectName("")
    assert sys.getrefcount(None) > before - CALLS // 10
