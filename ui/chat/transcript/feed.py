"""From the model's signals to the layout."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, Qt

from engine.chat.records import Role
from ui.chat.transcript.layout import Layout
from ui.chat.transcript.row import Row, is_open
from ui.chat.transcript.selection import Selection


class Feed(QObject):
    """Keeps the rows of a layout equal to a model's.

    Args:
        changed: Called after each change; its argument says that only text of a running answer grew.
    """

    def __init__(
        self,
        model: QAbstractItemModel,
        layout: Layout,
        selection: Selection,
        changed: Callable[[bool], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pending: set[int] = set()
        self._model, self._layout, self._selection, self._changed = model, layout, selection, changed
        model.modelReset.connect(self.reset)
        model.layoutChanged.connect(self.reset)
        model.rowsMoved.connect(self.reset)
        model.rowsInserted.connect(self._inserted)
        model.rowsRemoved.connect(self._removed)
        model.dataChanged.connect(self._data_changed)

    def _rows(self, first: int, last: int) -> list[Row]:
        index, role = self._model.index, Qt.ItemDataRole.UserRole
        return [index(number, 0).data(role) for number in range(first, last + 1)]

    def reset(self) -> None:
        """Take all rows."""
        self._pending.clear()
        self._selection.clear()
        self._layout.reset(self._rows(0, self._model.rowCount() - 1))
        self._changed(False)

    def _inserted(self, parent: QModelIndex, first: int, last: int) -> None:
        rows = self._rows(first, last)
        at_end = first == len(self._layout.rows)
        self._selection.shift(first, len(rows))
        self._layout.insert(first, rows)
        self._pending = {row + len(rows) if row >= first else row for row in self._pending}
        if at_end and is_open(rows[-1]) and any(row.role is Role.USER for row in rows):
            self._layout.follow = True
        self._changed(False)

    def _removed(self, parent: QModelIndex, first: int, last: int) -> None:
        self._selection.shift(first, first - last - 1)
        self._layout.remove(first, last)
        kept = (row for row in self._pending if not first <= row <= last)
        self._pending = {row - (last + 1 - first) if row > last else row for row in kept}
        self._changed(False)

    def _data_changed(self, top: QModelIndex, bottom: QModelIndex) -> None:
        """A running answer may change more often than it is worth showing: `flush` takes the change over."""
        changed = range(top.row(), bottom.row() + 1)
        self._pending.update(changed)
        old = self._layout.rows
        new = self._rows(changed.start, changed.stop - 1)
        self._changed(all(is_open(row) and is_open(old[n]) for n, row in zip(changed, new, strict=True)))

    def flush(self) -> None:
        """Take over the rows whose content changed."""
        pending, self._pending = self._pending, set()
        for number in sorted(pending):
            row = self._rows(number, number)[0]
            self._keep_unfolded(number, row)
            self._layout.messages.change(number, row)

    def _keep_unfolded(self, number: int, row: Row) -> None:
        """A thought that is being read is not folded when the answer begins."""
        message = self._layout.messages.known(number)
        if message is not None and message.reader.unfolded and not self._layout.follow:
            self._layout.messages.folds[row.id] = True
