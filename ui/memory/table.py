"""The figures of the strip as rows. Pure rows, and the model that shows them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from engine.memory.records import MemorySnapshot, Pool
from engine.protocol.types import ModelInfo
from ui.memory.shares import Share, chosen_gpu, share_of_model
from ui.memory.words import gib, short_name, tr

AnyIndex = QModelIndex | QPersistentModelIndex
NO_PARENT = QModelIndex()


@dataclass(frozen=True)
class PoolRow:
    """One kind of memory."""

    name: str
    used: str
    total: str
    free: str
    model: str

    def cells(self) -> tuple[str, ...]:
        """In the order of the columns."""
        return (self.name, self.used, self.total, self.free, self.model)


def rows(snapshot: MemorySnapshot | None, model: ModelInfo | None) -> tuple[PoolRow, ...]:
    """Memory of every card, RAM and swap; the chosen card first."""
    if snapshot is None:
        return ()
    gpu = chosen_gpu(snapshot, model)
    share = share_of_model(snapshot, model, gpu)
    found = []
    for card in sorted(snapshot.gpus, key=lambda card: card is not gpu):
        suffix = f", {short_name(card.name)}" if len(snapshot.gpus) > 1 else ""
        own = share if card is gpu else Share()
        found.append(_row("VRAM" + suffix, card.vram, own.vram))
        found.append(_row("GTT" + suffix, card.gtt, own.gtt))
    ram = snapshot.ram
    found.append(_row("RAM", Pool(ram.total, ram.used), share.ram))
    if share.mapped:
        found.append(PoolRow(tr("Model file, can be dropped"), gib(share.mapped), "", "", ""))
    if ram.swap_total != 0:
        used = None if ram.swap_total is None or ram.swap_free is None else ram.swap_total - ram.swap_free
        found.append(_row(tr("Swap"), Pool(ram.swap_total, used), None))
    return tuple(found)


def _row(name: str, pool: Pool, model: int | None) -> PoolRow:
    return PoolRow(name, gib(pool.used), gib(pool.total), gib(pool.free), gib(model) if model else "")


class PoolTableModel(QAbstractTableModel):
    """The rows; a change of a figure touches its cell only."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[PoolRow, ...] = ()

    def set_rows(self, new: tuple[PoolRow, ...]) -> None:
        """Show ``new``."""
        if len(new) != len(self._rows):
            self.beginResetModel()
            self._rows = new
            self.endResetModel()
            return
        old, self._rows = self._rows, new
        for number, (before, after) in enumerate(zip(old, new, strict=True)):
            for column, (was, now) in enumerate(zip(before.cells(), after.cells(), strict=True)):
                if was != now:
                    cell = self.index(number, column)
                    self.dataChanged.emit(cell, cell, [Qt.ItemDataRole.DisplayRole])

    def rowCount(self, parent: AnyIndex = NO_PARENT) -> int:
        """One for each kind of memory."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = NO_PARENT) -> int:
        """Name, used, total, free, model."""
        return 0 if parent.isValid() else 5

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts; figures to the right."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._rows[index.row()].cells()[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 0:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Names of the columns."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if section else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        return (tr("Memory"), tr("Used"), tr("Total"), tr("Free"), tr("Model"))[section]
