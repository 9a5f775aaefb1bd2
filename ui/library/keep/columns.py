"""The columns of the table of models, and texts that a model alone tells."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum

from PySide6.QtCore import Qt

from app.library.service import InstalledModel
from ui.library import words
from ui.library.discover.words import licence


class Column(IntEnum):
    """Columns from left to right."""

    NAME = 0
    QUANT = 1
    SIZE = 2
    FIT = 3
    CONTEXT = 4
    USED = 5
    STATUS = 6
    PARAMETERS = 7
    ARCHITECTURE = 8
    LICENCE = 9
    SOURCE = 10


NUMBERS = (Column.SIZE, Column.CONTEXT, Column.PARAMETERS)

PLAIN_TEXTS: dict[Column, Callable[[InstalledModel], str]] = {
    Column.NAME: lambda row: row.name,
    Column.QUANT: lambda row: row.quant or "–",
    Column.SIZE: lambda row: words.file_size(row.size_bytes),
    Column.CONTEXT: lambda row: words.context(row.context_length) or "–",
    Column.PARAMETERS: lambda row: words.parameters(row.n_params) or "–",
    Column.ARCHITECTURE: lambda row: row.architecture or "–",
    Column.LICENCE: lambda row: licence(row.licence) if row.licence else "–",
}
"""Columns whose text is told by the row alone."""

SORT_NUMBERS: dict[Column, Callable[[InstalledModel], float | None]] = {
    Column.SIZE: lambda row: row.size_bytes,
    Column.CONTEXT: lambda row: row.context_length or 0,
    Column.PARAMETERS: lambda row: row.n_params or 0,
    Column.USED: lambda row: row.last_used,
}
"""Columns that are sorted by a number; None: it is not known."""


def alignment(column: int) -> Qt.AlignmentFlag:
    """Numbers stand to the right, so that they can be compared."""
    side = Qt.AlignmentFlag.AlignRight if column in NUMBERS else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter
