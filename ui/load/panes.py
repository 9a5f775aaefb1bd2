"""Frames around what the load dialog shows."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget


def scrolled(inside: QWidget, name: str) -> QScrollArea:
    """``inside``, which is as wide as its place and may be higher."""
    area = QScrollArea()
    area.setAccessibleName(name)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidgetResizable(True)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    inside.setProperty("role", "page")
    area.setWidget(inside)
    return area


def side(inside: QWidget, name: str, width: int) -> QWidget:
    """A panel of this width, pixels."""
    panel = QWidget()
    panel.setProperty("role", "panel")
    column = QVBoxLayout(panel)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(scrolled(inside, name))
    panel.setFixedWidth(width)
    return panel


def line(role: str) -> QFrame:
    """A hairline."""
    found = QFrame()
    found.setProperty("role", role)
    return found
