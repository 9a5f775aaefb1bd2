"""The sheet above the strip: the same figures as a table, and who else holds GPU memory."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QLabel, QTableView, QVBoxLayout, QWidget

from engine.memory.records import GpuMemory, MemorySnapshot
from engine.protocol.types import ModelInfo
from ui.memory import words
from ui.memory.legend import Legend
from ui.memory.shares import Share, bars, chosen_gpu, gone_gpu, share_of_model
from ui.memory.table import PoolTableModel, rows
from ui.memory.words import number, tr
from ui.theme import SPACE_L, SPACE_S, Theme, set_role

LISTED_PROCESSES = 5
ROW_HEIGHT = 30


def heading(snapshot: MemorySnapshot | None, model: ModelInfo | None) -> str:
    """Which card the figures are of."""
    gpu = chosen_gpu(snapshot, model) if snapshot is not None else None
    if gpu is not None:
        return f"{gpu.name} ({tr('asleep')})" if gpu.asleep else gpu.name
    gone = gone_gpu(snapshot, model) if snapshot is not None else None
    return tr("{name} is gone").format(name=gone.name) if gone is not None else tr("Memory")


def notes(gpu: GpuMemory | None, worker: int | None, speed: float | None, share: Share | None = None) -> str:
    """Lines below the table: what the model's column means, room, sensors, speed, the largest other programs."""
    texts = []
    if share is not None:
        texts.append(tr("Model: weights, KV cache and compute buffers that the engine holds."))
        if share.reported is not None:
            texts.append(words.model_took(share))
    if not words.has_memory_data(gpu):
        texts.append(tr("No GPU memory data."))
    if gpu is not None and gpu.room is not None:
        texts.append(tr("Room for a model: {size}.").format(size=words.gib(gpu.room)))
    sensors = [*words.sensor_texts(gpu), *([f"{speed:.1f} tok/s"] if speed else [])]
    if sensors:
        texts.append(", ".join(sensors))
    others = [process for process in gpu.processes if process.pid != worker] if gpu is not None else []
    if others:
        texts.append("")
        texts.append(tr("Other programs on this card (VRAM, GTT in GiB):"))
    texts += [f"{other.name}  {number(other.vram)}, {number(other.gtt)}" for other in others[:LISTED_PROCESSES]]
    return "\n".join(texts)


class MemoryDetails(QFrame):
    """A popup that follows the figures while it is open; Escape or a click elsewhere closes it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("memoryDetails")
        self.setProperty("role", "popover")
        self._theme = theme
        self._title = QLabel()
        set_role(self._title, "heading")
        self._model = PoolTableModel(self)
        self._table = QTableView()
        self._legend = Legend(theme)
        self._notes = QLabel()
        self._notes.setTextFormat(Qt.TextFormat.PlainText)
        set_role(self._notes, "muted")
        self._dress_table()
        column = QVBoxLayout(self)
        column.setContentsMargins(SPACE_L, SPACE_L, SPACE_L, SPACE_L)
        column.setSpacing(SPACE_S)
        column.addWidget(self._title)
        column.addWidget(self._table)
        column.addWidget(self._legend)
        column.addWidget(self._notes)

    def show_figures(self, snapshot: MemorySnapshot | None, model: ModelInfo | None, speed: float | None) -> None:
        """Bring everything up to date."""
        gpu = chosen_gpu(snapshot, model) if snapshot is not None else None
        worker = snapshot.worker.pid if snapshot is not None and snapshot.worker is not None else None
        self._title.setText(heading(snapshot, model))
        self.setAccessibleName(self._title.text())
        self._model.set_rows(rows(snapshot, model))
        share = share_of_model(snapshot, model, gpu) if snapshot is not None and model is not None else None
        self._notes.setText(notes(gpu, worker, speed, share))
        self._legend.show_bars(bars(gpu, snapshot.ram, share or Share()) if snapshot is not None else ())
        self._fit_table()

    def open_above(self, anchor: QWidget) -> None:
        """Show it over ``anchor``, moved so that it stays on the screen."""
        self.adjustSize()
        corner = anchor.mapToGlobal(QPoint(SPACE_S, -self.height() - SPACE_S))
        screen = QGuiApplication.screenAt(anchor.mapToGlobal(QPoint(0, 0))) or self.screen()
        room = screen.availableGeometry()
        corner.setX(max(room.left(), min(corner.x(), room.right() - self.width())))
        corner.setY(max(room.top(), min(corner.y(), room.bottom() - self.height())))
        self.move(corner)
        self.show()
        self._table.setFocus(Qt.FocusReason.PopupFocusReason)

    def _dress_table(self) -> None:
        table = self._table
        table.setModel(self._model)
        table.setObjectName("memoryTable")
        table.setAccessibleName(self.tr("Memory figures"))
        table.verticalHeader().hide()
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.horizontalHeader().setHighlightSections(False)
        table.setShowGrid(False)
        table.setFrameShape(QFrame.Shape.NoFrame)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.setTabKeyNavigation(False)

    def _fit_table(self) -> None:
        """As large as its cells; columns only grow, so that figures do not jump."""
        table = self._table
        table.verticalHeader().setDefaultSectionSize(self._theme.px(ROW_HEIGHT))
        metrics = table.fontMetrics()
        for column in range(self._model.columnCount()):
            texts = [str(self._model.index(row, column).data() or "") for row in range(self._model.rowCount())]
            texts.append(str(self._model.headerData(column, Qt.Orientation.Horizontal)))
            least = self._theme.px(84 if column else 110)
            wanted = max(least, max(metrics.horizontalAdvance(text) for text in texts) + self._theme.px(24))
            table.setColumnWidth(column, max(wanted, table.columnWidth(column) if self.isVisible() else 0))
        width = sum(table.columnWidth(column) for column in range(self._model.columnCount()))
        height = table.horizontalHeader().sizeHint().height() + self._model.rowCount() * self._theme.px(ROW_HEIGHT)
        table.setFixedSize(QSize(width + 2, height + 2))
