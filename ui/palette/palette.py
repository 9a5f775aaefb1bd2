"""The command palette: a field and a list over the window; what is typed finds commands, conversations and models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from ui.palette.acts import Act, Index
from ui.theme import SPACE_L, SPACE_S, Theme, set_role

WIDTH = 560
MOST = 60
"""Lines at a time; who wants another one types more."""
ROWS_SEEN = 10
ROW = 40
"""Height of a line, pixels at scale 1: what a finger hits."""
FEWEST_ROWS = 3
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: ROWS_SEEN, Qt.Key.Key_PageUp: -ROWS_SEEN}


class Palette(QFrame):
    """Closes itself when something is chosen, on Escape and when another window is clicked.

    Args:
        acts: Everything that can be chosen, in order; asked once.
    """

    def __init__(self, theme: Theme, acts: Callable[[], Sequence[Act]], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._theme, self._index = theme, Index(acts())
        self._shown: list[Act] = []
        self._rows = ROWS_SEEN
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("palette")
        self.setProperty("role", "popover")
        self.setAccessibleName(self.tr("Commands"))
        self.field = QLineEdit()
        self.field.setObjectName("paletteField")
        self.field.setPlaceholderText(self.tr("Find a command, a conversation or a model"))
        self.field.setAccessibleName(self.tr("Find a command, a conversation or a model"))
        self.field.textChanged.connect(self._fill)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setObjectName("paletteList")
        self.list.setAccessibleName(self.tr("Matches"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setUniformItemSizes(True)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.itemClicked.connect(lambda item: self._choose(self.list.row(item)))
        self._none = QLabel(self.tr("Nothing has all these words."))
        set_role(self._none, "muted")
        self._none.setContentsMargins(SPACE_S, SPACE_S, SPACE_S, SPACE_S)
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_S, SPACE_S, SPACE_S, SPACE_S)
        column.setSpacing(SPACE_S)
        for widget in (self.field, self.list, self._none):
            column.addWidget(widget)
        self._fill("")

    def open_over(self, window: QWidget) -> None:
        """Show it in the upper middle of ``window``, with as many rows as have room there."""
        width = min(self._theme.px(WIDTH), window.width() - 2 * SPACE_L)
        self.setFixedWidth(width)
        self.adjustSize()
        top, others = window.height() // 8, self.height() - self.list.maximumHeight()
        room = (window.height() - top - SPACE_S - others) // self._theme.px(ROW)
        self._rows = min(ROWS_SEEN, max(FEWEST_ROWS, room))
        self._fill(self.field.text())
        self.adjustSize()
        corner = window.mapToGlobal(window.rect().topLeft())
        self.move(corner.x() + (window.width() - width) // 2, corner.y() + top)
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self, typed: str) -> None:
        self._shown = self._index.matching(typed, MOST)
        self.list.clear()
        height = self._theme.px(ROW)
        for act in self._shown:
            item = QListWidgetItem()
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{act.name} {native(act)}".strip())
            self.list.addItem(item)
            line = _Line(act, self.list)
            size = line.sizeHint()
            size.setHeight(max(height, size.height()))
            item.setSizeHint(size)
            self.list.setItemWidget(item, line)
        self.list.setFixedHeight(height * self._rows)
        self.list.setVisible(bool(self._shown))
        self._none.setVisible(not self._shown)
        self.list.setCurrentRow(0 if self._shown else -1)

    def _choose(self, row: int) -> None:
        if 0 <= row < len(self._shown):
            act = self._shown[row]
            self.close()
            act.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows move through the list while one types."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key = Qt.Key(event.key())
            if key in _STEPS and self._shown:
                last = len(self._shown) - 1
                self.list.setCurrentRow(min(max(0, self.list.currentRow() + _STEPS[key]), last))
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self.list.currentRow())
                return True
        return super().eventFilter(watched, event)


class _Line(QLabel):
    """Name at the left, keys at the right; names of models and conversations are plain text."""

    def __init__(self, act: Act, parent: QWidget) -> None:
        super().__init__(act.name.replace("\n", " "), parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setContentsMargins(SPACE_S, 0, SPACE_S, 0)
        self._keys = QLabel(native(act), self)
        set_role(self._keys, "muted")
        self._keys.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def resizeEvent(self, event: object) -> None:
        """Keys stay at the right."""
        width = self._keys.sizeHint().width()
        self._keys.setGeometry(self.width() - width - SPACE_S, 0, width, self.height())


def native(act: Act) -> str:
    """The first key sequence as this desktop writes it; empty when there is none."""
    return QKeySequence(act.keys[0]).toString(QKeySequence.SequenceFormat.NativeText) if act.keys else ""
