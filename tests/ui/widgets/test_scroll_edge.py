"""The line below what scrolls."""

from __future__ import annotations

from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from ui.widgets.scroll_edge import ScrollEdge


def test_it_is_there_only_while_something_is_out_of_sight(qtbot: QtBot) -> None:
    window, inside, area = QWidget(), QWidget(), QScrollArea()
    qtbot.addWidget(window)
    inside.setMinimumHeight(300)
    area.setWidgetResizable(True)
    area.setWidget(inside)
    edge = ScrollEdge(area)
    column = QVBoxLayout(window)
    column.addWidget(area)
    column.addWidget(edge)
    window.resize(200, 500)
    window.show()
    assert not edge.isVisible()
    window.resize(200, 200)
    qtbot.waitUntil(edge.isVisible, timeout=60_000)
    window.resize(200, 500)
    qtbot.waitUntil(lambda: not edge.isVisible(), timeout=60_000)
