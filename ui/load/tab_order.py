"""The order in which Tab visits controls, where some are made later than those behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QWidget


def stops_in(layout: QLayout | None) -> Iterator[QWidget]:
    """What Tab can visit in a layout, in the order in which it is seen."""
    for index in range(layout.count() if layout is not None else 0):
        item = layout.itemAt(index) if layout is not None else None
        widget = item.widget() if item is not None else None
        if widget is None:
            yield from stops_in(item.layout() if item is not None else None)
        elif widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            yield widget
        else:
            yield from stops_in(widget.layout())


def set_order(stops: Sequence[QWidget]) -> None:
    """Let Tab go from each of ``stops`` to the next."""
    for one, other in pairwise(stops):
        QWidget.setTabOrder(one, other)
