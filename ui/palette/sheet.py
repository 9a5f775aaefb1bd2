"""All keys on one sheet."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDialog, QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from ui.palette.acts import Act
from ui.theme import SCROLL_BAR, SPACE_L, SPACE_M, SPACE_S, Theme, set_role
from ui.widgets.first_size import fit_screen, screen_room
from ui.widgets.scroll_edge import ScrollEdge
from ui.widgets.text_button import TextButton

WIDTH, COLUMN = 860, 520
"""Of the sheet with two columns, and the most that a single one has, pixels at scale 1."""


class ShortcutsSheet(QDialog):
    """Keys by group, in two columns where there is room for them."""

    def __init__(self, theme: Theme, acts: Sequence[Act], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("shortcutsSheet")
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        room = screen_room(self).width() - theme.px(SCROLL_BAR)
        inside = _columns(acts, 2)
        if inside.sizeHint().width() > room:
            inside = _columns(acts, 1)
            inside.setMaximumWidth(max(theme.px(COLUMN), inside.sizeHint().width()))
        area = QScrollArea()
        area.setWidget(inside)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        close = TextButton(theme, self.tr("Close"))
        close.setObjectName("closeShortcuts")
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(SPACE_L, SPACE_M, SPACE_L, SPACE_M)
        buttons.addStretch()
        buttons.addWidget(close)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addWidget(ScrollEdge(area))
        whole.addLayout(buttons)
        wanted = min(theme.px(WIDTH), inside.maximumWidth() + theme.px(SCROLL_BAR))
        fit_screen(self, wanted, theme.px(560))
        close.setFocus()


def _columns(acts: Sequence[Act], count: int) -> QWidget:
    """All groups, in so many columns."""
    inside = QWidget()
    row = QHBoxLayout(inside)
    row.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_L)
    row.setSpacing(2 * SPACE_L)
    for groups in _halves(acts, count):
        column = QVBoxLayout()
        column.setSpacing(SPACE_L)
        for title, members in groups:
            column.addLayout(_table(title, members))
        column.addStretch()
        row.addLayout(column, 1)
    return inside


def _halves(acts: Sequence[Act], columns_wanted: int) -> list[list[tuple[str, list[Act]]]]:
    """Groups in their order, in one column or spread over two of about the same length."""
    groups: dict[str, list[Act]] = {}
    for act in acts:
        if act.keys:
            groups.setdefault(act.group, []).append(act)
    columns: list[list[tuple[str, list[Act]]]] = [[], []]
    total, filled = sum(len(members) + 2 for members in groups.values()), 0
    for title, members in groups.items():
        columns[columns_wanted > 1 and filled + len(members) / 2 > total / 2].append((title, members))
        filled += len(members) + 2
    return columns[:columns_wanted]


def _table(title: str, acts: Sequence[Act]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(SPACE_L)
    grid.setVerticalSpacing(SPACE_S)
    grid.setColumnStretch(0, 1)
    heading = QLabel(title)
    set_role(heading, "heading")
    grid.addWidget(heading, 0, 0, 1, 2)
    for row, act in enumerate(acts, 1):
        keys = QLabel(all_keys(act))
        set_role(keys, "muted")
        grid.addWidget(QLabel(act.name), row, 0)
        grid.addWidget(keys, row, 1, Qt.AlignmentFlag.AlignRight)
    return grid


def all_keys(act: Act) -> str:
    """The key sequences as this desktop writes them."""
    return ", ".join(QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) for keys in act.keys)
