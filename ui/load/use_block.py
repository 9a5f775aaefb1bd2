"""What a load takes on one device: name, sum, bar, and what the parts are."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from engine.memory.fit.records import DeviceUse
from engine.protocol.types import DeviceKind
from ui.chat.words import short_device
from ui.load import words
from ui.load.bar import FitBar, colour_of, paint_pattern, part_sizes
from ui.theme import SPACE_XS, Theme, set_role

MARK = 12
PARTS = ("weights", "kv", "compute", "image", "draft", "learned")


class UseBlock(QWidget):
    """One device: name, sum, bar, and what the parts are."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name, self._sum = QLabel(), QLabel()
        self._name.setWordWrap(True)
        self._bar = FitBar(theme)
        self._grid = QGridLayout()
        self._grid.setSpacing(SPACE_XS)
        self._grid.setColumnStretch(1, 1)
        self._lines: dict[str, tuple[Mark, QLabel, QLabel]] = {}
        for row, part in enumerate(PARTS):
            mark, name, size = Mark(theme, part), QLabel(words.part(part)), QLabel()
            set_role(name, "muted")
            self._grid.addWidget(mark, row, 0)
            self._grid.addWidget(name, row, 1)
            self._grid.addWidget(size, row, 2, Qt.AlignmentFlag.AlignRight)
            self._lines[part] = (mark, name, size)
        top = QHBoxLayout()
        top.addWidget(self._name, 1)
        top.addWidget(self._sum)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(SPACE_XS)
        column.addLayout(top)
        column.addWidget(self._bar)
        column.addLayout(self._grid)

    def show_use(self, use: DeviceUse) -> None:
        """Bring figures and bar up to date."""
        name = words.tr("RAM") if words.is_ram(use.kind) else short_device(use.name)
        total = words.sum_of(use.total, use.room)
        self._name.setText(name)
        self._sum.setText(total)
        self._bar.show_use(use)
        sizes = dict(part_sizes(use))
        texts = [f"{words.part(part)} {words.gib(size)}" for part, size in sizes.items() if size > 0]
        self._bar.setToolTip(", ".join(texts))
        self.setAccessibleName(f"{name}: {total}. {', '.join(texts)}")
        for part, size in sizes.items():
            mark, label, figure = self._lines[part]
            mark.show_kind(use.kind)
            figure.setText(words.gib(size))
            for widget in (mark, label, figure):
                widget.setVisible(size > 0)


class Mark(QWidget):
    """The look of a part in the bar."""

    def __init__(self, theme: Theme, part: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._part = theme, part
        self._kind = DeviceKind.CPU
        self.setSizePolicy(self.sizePolicy().Policy.Fixed, self.sizePolicy().Policy.Fixed)

    def sizeHint(self) -> QSize:
        """A small square."""
        return QSize(self._theme.px(MARK), self._theme.px(MARK))

    def show_kind(self, kind: DeviceKind) -> None:
        """Take the colour of a kind of device."""
        self._kind = kind
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The pattern."""
        colour = colour_of(self._kind, self._theme.tokens)
        paint_pattern(QPainter(self), QRectF(self.rect()), self._part, colour)
