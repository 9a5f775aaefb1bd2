"""Which arrow keys a widget has a use for itself; all others move the keyboard on."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QListView,
    QPlainTextEdit,
    QTabBar,
    QTextEdit,
    QTreeView,
    QWidget,
)

from ui.shell.nearest import Way

ACROSS = (Way.LEFT, Way.RIGHT)


def leaves(widget: QWidget, way: Way) -> bool:
    """Whether the arrow key must move the keyboard on, because ``widget`` would swallow it for nothing.

    False also where the widget lets the key pass if it has no use for it.
    """
    if isinstance(widget, QAbstractSpinBox):
        return way not in ACROSS  # up and down must go through a form, not change it
    if isinstance(widget, QAbstractSlider):
        return way not in ACROSS or _at_end(widget, way)
    if isinstance(widget, QAbstractButton | QComboBox):
        return True
    if isinstance(widget, QTabBar):
        return way not in ACROSS
    if isinstance(widget, QLineEdit):
        return way in ACROSS and _at_end_of_line(widget, way)
    if isinstance(widget, QPlainTextEdit | QTextEdit):
        return _cannot_move(widget, way)
    if isinstance(widget, QAbstractItemView):
        return _no_row(widget, way)
    if isinstance(widget, QAbstractScrollArea):
        return _cannot_scroll(widget, way)
    return False


def _at_end(slider: QAbstractSlider, way: Way) -> bool:
    return slider.value() == (slider.maximum() if way is Way.RIGHT else slider.minimum())


def _at_end_of_line(edit: QLineEdit, way: Way) -> bool:
    end = 0 if way is Way.LEFT else len(edit.text())
    return edit.cursorPosition() == end and not edit.hasSelectedText()


def _cannot_move(edit: QPlainTextEdit | QTextEdit, way: Way) -> bool:
    if edit.isReadOnly():
        return _cannot_scroll(edit, way)
    steps = QTextCursor.MoveOperation
    step = {Way.LEFT: steps.Left, Way.RIGHT: steps.Right, Way.UP: steps.Up, Way.DOWN: steps.Down}[way]
    cursor = QTextCursor(edit.textCursor())
    return not cursor.movePosition(step)


def _no_row(view: QAbstractItemView, way: Way) -> bool:
    if way in ACROSS:
        return not isinstance(view, QTreeView) and _cannot_scroll(view, way)
    model: QAbstractItemModel | None = view.model()
    rows = model.rowCount(view.rootIndex()) if model is not None else 0
    current = view.currentIndex()
    if not rows or not current.isValid() or isinstance(view, QTreeView):
        return not rows
    ahead = range(current.row() + 1, rows) if way is Way.DOWN else range(current.row())
    return not any(_can_be_current(view, row) for row in ahead)


def _can_be_current(view: QAbstractItemView, row: int) -> bool:
    if isinstance(view, QListView) and view.isRowHidden(row):
        return False
    flags = view.model().index(row, 0, view.rootIndex()).flags()
    wanted = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
    return flags & wanted == wanted


def _cannot_scroll(area: QAbstractScrollArea, way: Way) -> bool:
    bar = area.horizontalScrollBar() if way in ACROSS else area.verticalScrollBar()
    return bar.value() == (bar.maximum() if way in (Way.RIGHT, Way.DOWN) else bar.minimum())
