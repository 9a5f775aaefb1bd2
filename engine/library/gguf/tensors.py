"""The tensor table of a GGUF header."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from engine.library.gguf.cursor import Cursor, HeaderError, cut_off, damaged
from engine.library.gguf.records import HeaderProblem
from engine.library.gguf.tables import BLOCKS
from engine.library.states import FileState

MAX_TENSORS = 1 << 17
MAX_NAME = 63
MAX_DIMS = 4
MAX_BYTES = 1 << 44
SMALLEST_ENTRY = 8 + 1 + 4 + 4 + 8


class TensorEntry(NamedTuple):
    """One tensor: its type's name, ``dims`` with the fastest-moving first, place and size in bytes.

    ``offset`` counts from the start of the data.
    """

    name: str
    kind: str
    dims: tuple[int, ...]
    offset: int
    n_bytes: int


@dataclass
class TensorTable:
    """Sums over the table, and its entries where they are wanted."""

    count: int = 0
    n_params: int = 0
    n_bytes: int = 0
    end: int = 0
    """End of the last tensor, counted from the start of the data."""
    bytes_by_type: dict[str, int] = field(default_factory=dict)
    entries: list[TensorEntry] | None = None

    @property
    def main_type(self) -> str:
        """Name of the tensor type that takes most bytes; empty without tensors."""
        return max(self.bytes_by_type, key=lambda name: self.bytes_by_type[name], default="")


def read_tensors(cursor: Cursor, count: int, alignment: int, *, keep: bool = False) -> TensorTable:
    """Read ``count`` entries, and ``keep`` them. Raises `HeaderError`."""
    if count > MAX_TENSORS:
        raise damaged("The header announces an impossible number of tensors.")
    if count * SMALLEST_ENTRY > cursor.left:
        raise cut_off()
    table = TensorTable(count, entries=[] if keep else None)
    names: set[bytes] = set()
    for _ in range(count):
        name = cursor.take(cursor.length("the name of a tensor", MAX_NAME))
        if name in names:
            raise damaged("Two tensors have the same name.")
        names.add(name)
        _add_entry(cursor, table, alignment, name)
    return table


def _add_entry(cursor: Cursor, table: TensorTable, alignment: int, tensor: bytes) -> None:
    n_dims = cursor.u32()
    if n_dims > MAX_DIMS:
        raise damaged("A tensor has more dimensions than there can be.")
    dims = tuple(cursor.u64() for _ in range(n_dims))
    kind, offset = cursor.u32(), cursor.u64()
    if kind not in BLOCKS:
        text = f"The file holds tensors of type {kind}, which the engine does not know."
        raise HeaderError(HeaderProblem(state=FileState.TOO_NEW, message=text))
    name, per_block, block_bytes = BLOCKS[kind]
    weights = math.prod(dims)
    if dims and dims[0] % per_block:
        raise damaged("The size of a tensor does not fit its type.")
    size = weights // per_block * block_bytes
    if size > MAX_BYTES or offset > MAX_BYTES or offset % alignment:
        raise damaged("A tensor has an impossible size or place.")
    table.n_params += weights
    table.n_bytes += size
    table.end = max(table.end, offset + size)
    table.bytes_by_type[name] = table.bytes_by_type.get(name, 0) + size
    if table.entries is not None:
        table.entries.append(TensorEntry(tensor.decode("utf-8", "replace"), name, dims, offset, size))
