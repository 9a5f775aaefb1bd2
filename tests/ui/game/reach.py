"""What arrow keys reach in a page, and which targets are too small for fingers."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QScrollBar,
    QWidget,
)

from ui.shell.arrows import Arrows, give_focus, stops_in
from ui.shell.nearest import Way

LEAST_TARGET = 44
NUMBERS = (QAbstractSlider, QAbstractSpinBox)


def name_of(widget: QWidget) -> str:
    return widget.objectName() or f"{type(widget).__name__} {widget.accessibleName()}"


def not_reached(page: QWidget, start: QWidget) -> list[str]:
    """Controls of ``page`` that no way of arrow keys from ``start`` leads to; numbers are left at their ends."""
    arrows = Arrows(page.window(), lambda: page)
    reached, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        for way in Way:
            give_focus(here, Way.DOWN)
            found = arrows.target(here, way)
            if found is not None and found not in reached:
                reached.add(found)
                waiting.append(found)
    return [name_of(stop) for stop in stops_in(page) if stop not in reached]


def small_targets(page: QWidget) -> list[str]:
    """Controls of ``page`` that a finger misses; scroll bars are not needed where a flick scrolls."""
    QApplication.sendPostedEvents()
    kinds = (QAbstractButton, QComboBox, *NUMBERS)
    found = [one for one in page.findChildren(QWidget) if isinstance(one, kinds) and one.isVisible()]
    found = [one for one in found if not isinstance(one, QScrollBar)]
    return [f"{name_of(one)} {one.width()}x{one.height()}" for one in found if min(one.size().toTuple()) < LEAST_TARGET]
