"""Which bytes of a file are here, block by block, with a checksum of each block.

A block holds the bytes from its beginning up to its fill. Each entry of the map is written right after its bytes, so
what a killed process had is known to the last write. The CRC-32 of a block is that of the bytes as they came over the
network: it tells where a disk, or a power cut that took pages not yet written, changed them. It finds places; whether
the file is right is said by its sha256 alone.
"""

from __future__ import annotations

import struct
import zlib
from array import array
from collections.abc import Iterator
from typing import Final

BLOCK: Final = 1 << 20
MAGIC: Final = b"VRBLOCK1"
HEADER: Final = struct.Struct("<8sQ")
ENTRY: Final = struct.Struct("<II")
SUMMED: Final = 1 << 31
"""The entry's checksum is known."""

ENDLESS: Final = 1 << 62
"""Size of a file whose size is not known."""

Span = tuple[int, int]
"""First byte, and the one after the last."""


class Blocks:
    """The map of one file.

    Args:
        size: Of the whole file in bytes; None when unknown.

    Attributes:
        done: Bytes that are here.
    """

    def __init__(self, size: int | None) -> None:
        self.size = ENDLESS if size is None else size
        self._fill = array("I")
        self._crc = array("I")
        self._front = 0
        self.done = 0
        if size is not None:
            self._grow(-(-size // BLOCK))

    def __len__(self) -> int:
        return len(self._fill)

    def _grow(self, count: int) -> None:
        more = count - len(self._fill)
        if more > 0:
            self._fill.extend([SUMMED] * more)
            self._crc.extend([0] * more)

    def span(self, index: int) -> Span:
        """Place of block ``index`` in the file."""
        return index * BLOCK, min((index + 1) * BLOCK, self.size)

    def fill(self, index: int) -> int:
        """Bytes of block ``index`` that are here."""
        return self._fill[index] & ~SUMMED if index < len(self._fill) else 0

    def is_full(self, index: int) -> bool:
        """All bytes of block ``index`` are here."""
        start, end = self.span(index)
        return index < len(self._fill) and self.fill(index) == end - start

    def crc(self, index: int) -> int | None:
        """Of the bytes that are here of block ``index``; None when nobody knows."""
        return self._crc[index] if index < len(self._fill) and self._fill[index] & SUMMED else None

    def place(self, at: int) -> int:
        """Index of the block that ``at`` lies in."""
        return at // BLOCK

    def add(self, at: int, data: memoryview) -> tuple[int, int]:
        """``data`` lies at ``at`` now, where the fill of its first block ends; gives the touched blocks ``[a, b)``."""
        first = index = self.place(at)
        while data:
            self._grow(index + 1)
            start, end = self.span(index)
            assert at == start + self.fill(index), (at, start, self.fill(index))
            piece = data[: end - at]
            if self._fill[index] & SUMMED:
                self._crc[index] = zlib.crc32(piece, self._crc[index])
            self._fill[index] += len(piece)
            self.done += len(piece)
            at, data, index = at + len(piece), data[len(piece) :], index + 1
        return first, index

    def claim_old(self, count: int) -> None:
        """The first ``count`` bytes are here, with checksums that nobody knows."""
        self._grow(-(-count // BLOCK))
        for index in range(-(-count // BLOCK)):
            self._fill[index] = min(BLOCK, count - index * BLOCK)
        self.done = count
        self._front = 0

    def learn(self, index: int, crc: int) -> None:
        """The bytes that are here of block ``index`` have ``crc``."""
        self._fill[index] |= SUMMED
        self._crc[index] = crc

    def reset(self, index: int) -> None:
        """Nothing of block ``index`` is here."""
        self.done -= self.fill(index)
        self._fill[index], self._crc[index] = SUMMED, 0
        self._front = min(self._front, index)

    @property
    def full_blocks(self) -> int:
        """Full blocks from the beginning of the file without a gap."""
        while self._front < len(self._fill) and self.is_full(self._front):
            self._front += 1
        return self._front

    @property
    def front(self) -> int:
        """Bytes from the beginning of the file without a gap."""
        index = self.full_blocks
        return min(index * BLOCK + self.fill(index), self.size)

    @property
    def is_whole(self) -> bool:
        """All bytes are here."""
        return self.done == self.size

    def missing(self) -> list[Span]:
        """Where bytes are missing, in order."""
        found: list[Span] = []
        for start, end in self._gaps():
            if found and found[-1][1] == start:
                found[-1] = found[-1][0], end
            else:
                found.append((start, end))
        return found

    def _gaps(self) -> Iterator[Span]:
        for index in range(self.full_blocks, len(self._fill)):
            start, end = self.span(index)
            if (at := start + self.fill(index)) < end:
                yield at, end
        known = len(self._fill) * BLOCK
        if known < self.size:
            yield known, self.size

    def end_at(self, size: int) -> None:
        """The file turned out to have ``size`` bytes, all of which are here."""
        self.size = size

    def put(self, index: int, fill: int, crc: int) -> None:
        """An entry as it was kept; one that makes no sense is left out."""
        self._grow(index + 1)
        start, end = self.span(index)
        if fill & ~SUMMED <= end - start:
            self._fill[index], self._crc[index] = fill, crc
            self.done += fill & ~SUMMED

    def sums(self) -> bytes:
        """Checksums of all blocks of a whole file, four bytes each, little-endian; empty when one is not known."""
        if not self.is_whole or not all(fill & SUMMED for fill in self._fill):
            return b""
        return struct.pack(f"<{len(self._crc)}I", *self._crc)

    # ---- as bytes

    def header(self) -> bytes:
        """Beginning of the map's file."""
        return HEADER.pack(MAGIC, self.size)

    def entries(self, first: int, last: int) -> bytes:
        """Entries of blocks ``first`` up to ``last``."""
        return b"".join(ENTRY.pack(self._fill[index], self._crc[index]) for index in range(first, last))

    def encode(self) -> bytes:
        """The whole map."""
        return self.header() + self.entries(0, len(self._fill))


def entry_at(index: int) -> int:
    """Where the entry of block ``index`` lies in the map's file."""
    return HEADER.size + index * ENTRY.size


def decode(data: bytes, size: int | None) -> Blocks | None:
    """The map in ``data`` for a file of ``size``; None when it is none, or of a file of another size.

    A map that ends early, or an entry that makes no sense, means that these blocks are not here.
    """
    if len(data) < HEADER.size or HEADER.unpack_from(data) != (MAGIC, ENDLESS if size is None else size):
        return None
    blocks = Blocks(size)
    body = data[HEADER.size :]
    for index, (fill, crc) in enumerate(ENTRY.iter_unpack(body[: len(body) // ENTRY.size * ENTRY.size])):
        if size is not None and index >= len(blocks):
            return None
        blocks.put(index, fill, crc)
    return blocks


def of_sums(sums: bytes, size: int) -> Blocks | None:
    """The map of a whole file of ``size`` bytes whose blocks had ``sums``; None when they are not of such a file."""
    blocks = Blocks(size)
    if not sums or len(sums) != 4 * len(blocks):
        return None
    for index, crc in enumerate(struct.unpack(f"<{len(blocks)}I", sums)):
        start, end = blocks.span(index)
        blocks.put(index, (end - start) | SUMMED, crc)
    return blocks
