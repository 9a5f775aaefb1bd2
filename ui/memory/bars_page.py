"""The picture of the memory page: a block for each memory, and the last ten minutes below."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.memory.history import History
from app.settings.store import SettingsStore
from engine.memory.records import MemorySnapshot
from engine.protocol.types import ModelInfo
from ui.memory.block_view import BlockView
from ui.memory.blocks import Block, blocks
from ui.memory.history_panel import HistoryPanel
from ui.memory.page_words import card_names
from ui.theme import SPACE_L, SPACE_M, SPACE_S, Theme, set_role


class BarsPage(QScrollArea):
    """Blocks keep their places and widgets as long as the cards stay.

    Attributes:
        told: The line for what is pointed at; empty when nothing is.
    """

    told = Signal(str)

    def __init__(self, history: History, store: SettingsStore, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._views: dict[str, BlockView] = {}
        self._shown: tuple[Block, ...] = ()
        self._nothing = QLabel(self.tr("No memory data."))
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        set_role(self._nothing, "muted")
        self._history = HistoryPanel(history, store, theme)
        self._history.told.connect(self.told)
        self._column = QVBoxLayout()
        self._column.setSpacing(SPACE_M)
        page = QWidget()
        page.setProperty("role", "page")
        column = QVBoxLayout(page)
        column.setContentsMargins(SPACE_L, SPACE_M, SPACE_L, SPACE_S)
        column.setSpacing(SPACE_M)
        column.addLayout(self._column)
        column.addWidget(self._nothing)
        column.addWidget(self._history, 1)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(page)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_changed)

    @property
    def scales(self) -> int:
        """How many scales the bars would have without a common one."""
        return len({block.bar.total for block in self._shown if block.bar is not None})

    def show_figures(self, snapshot: MemorySnapshot | None, model: ModelInfo | None, *, one_scale: bool) -> None:
        """Follow the newest sample."""
        found = blocks(snapshot, model)
        cards = card_names(snapshot) if snapshot is not None else {}
        self._arrange(found)
        largest = max((block.bar.total for block in found if block.bar is not None), default=0)
        for block in found:
            full = largest if one_scale else block.bar.total if block.bar is not None else 0
            self._views[block.key].show_block(block, full, cards)
        self._nothing.setVisible(snapshot is None)
        self._history.setVisible(snapshot is not None)
        if snapshot is not None:
            self._history.show_figures(snapshot, model)

    def focus_first(self) -> None:
        """Give the keyboard to the first bar, else to the plot."""
        bars = [self._views[block.key].bar for block in self._shown if block.bar is not None]
        target = bars[0] if bars else self._history.plot
        target.setFocus(Qt.FocusReason.OtherFocusReason)

    def restyle(self) -> None:
        """Other colours, another text size."""
        for widget in self.findChildren(QWidget):
            widget.updateGeometry()
            widget.update()

    def _arrange(self, found: tuple[Block, ...]) -> None:
        """A view for each block, in their order; views of cards that are not told any more go."""
        keys = [block.key for block in found]
        if keys == [block.key for block in self._shown]:
            self._shown = found
            return
        self._shown = found
        for key in [key for key in self._views if key not in keys]:
            view = self._views.pop(key)
            view.hide()
            view.deleteLater()
        for place, key in enumerate(keys):
            if key not in self._views:
                view = self._views[key] = BlockView(self._theme)
                view.setObjectName(f"memoryBlock-{key}")
                view.told.connect(self.told)
            self._column.insertWidget(place, self._views[key])
        order = [self._views[key].bar for key in keys]
        for before, after in pairwise(order):
            QWidget.setTabOrder(before, after)

    def _focus_changed(self, _before: QWidget | None, now: QWidget | None) -> None:
        if now is not None and self.isAncestorOf(now):
            self.ensureWidgetVisible(now)
