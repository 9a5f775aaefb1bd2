"""The part of a file that is already here, open for writing."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path

from engine.downloads.blocks import BLOCK, Blocks, entry_at
from engine.downloads.disk import write_error
from engine.downloads.partial import map_path, part_path, read_blocks
from engine.errors import VrambleError


class Partial:
    """An open ``.part`` file with its map. One process at a time has it; several threads may write.

    Attributes:
        blocks: Which bytes are here. Between threads only under `lock`.
        lock: See above.
        compare: What is written already lies there, most likely: it is only written where it differs.
        mended: Indices of blocks that differed.
        saved: Bytes that the map on the disk knows of.
        fresh: Indices of blocks that were filled from their beginning since the file was opened.
    """

    def __init__(self, target: Path) -> None:
        """Open or make it. Raises VrambleError: ``already-downloading`` or as in `write_error`."""
        self._target = target
        self._map = -1
        self.lock = threading.Lock()
        self.compare = False
        self.mended: set[int] = set()
        self.fresh: set[int] = set()
        self.saved = 0
        self._fd = _open(part_path(target))
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._fd)
            raise VrambleError(
                "already-downloading", f"{target.name} is being downloaded already.", "Wait for it, or cancel it."
            ) from None
        except OSError:
            pass  # a file system without locks
        self.blocks = Blocks(None)

    @property
    def length(self) -> int:
        """Of the file, in bytes."""
        return os.fstat(self._fd).st_size

    def close(self) -> None:
        """Let go of the file; the bytes stay."""
        with self.lock:
            for fd in (self._fd, self._map):
                if fd >= 0:
                    os.close(fd)
            self._fd = self._map = -1

    def take_up(self, size: int | None, *, mapped: bool) -> None:
        """Go on with what is here of a file of ``size`` bytes.

        ``mapped``: there has to be a map. Without that the bytes are here from the beginning of the file: so earlier
        versions kept them.
        """
        blocks = read_blocks(map_path(self._target), size)
        if blocks is None:
            blocks = Blocks(size)
            if not mapped:
                blocks.claim_old(min(self.length, blocks.size))
            self._begin_map(blocks)
            return
        self.blocks = blocks
        self._open_map()
        for index in range(blocks.place(self.length), len(blocks)):
            if blocks.span(index)[0] + blocks.fill(index) > self.length:
                self.reset(index)  # the map was written and the bytes were not, as in a power cut

    def start_over(self, size: int | None) -> None:
        """Forget all bytes; the file has ``size`` of them."""
        self._begin_map(Blocks(size))
        try:
            os.ftruncate(self._fd, 0)
        except OSError as error:
            raise write_error(error, part_path(self._target)) from error

    def doubt(self, size: int) -> None:
        """Fetch everything again and write only what differs."""
        self.compare = True
        self._begin_map(Blocks(size))

    def _begin_map(self, blocks: Blocks) -> None:
        """A new map takes the place of the old one, whole or not at all: half a map would be lies."""
        path = map_path(self._target)
        new = path.with_name(path.name + ".new")
        try:
            new.write_bytes(blocks.encode())
            new.replace(path)
        except OSError as error:
            raise write_error(error, path) from error
        self.blocks = blocks
        self.fresh.clear()
        self._open_map()

    def _open_map(self) -> None:
        if self._map >= 0:
            os.close(self._map)
            self._map = -1
        self._map = _open(map_path(self._target))
        self.saved = self.blocks.done

    def write(self, at: int, data: memoryview) -> None:
        """Write ``data`` at ``at``, where the fill of a block ends. Raises VrambleError, as for a full disk."""
        if self.compare:
            self._put_what_differs(at, data)
        else:
            self._put(at, data)
        with self.lock:
            first, last = self.blocks.add(at, data)
            self.fresh.update(index for index in range(first, last) if index * BLOCK >= at)
            entries = self.blocks.entries(first, last)
        # Without the lock, which everybody wants: a block that is not full has one writer.
        self._keep(first, entries)
        with self.lock:
            self.saved += len(data)

    def _put(self, at: int, data: memoryview) -> None:
        try:
            _write_all(self._fd, data, at)
        except OSError as error:
            raise write_error(error, part_path(self._target)) from error

    def _put_what_differs(self, at: int, data: memoryview) -> None:
        while data:
            index = self.blocks.place(at)
            piece = data[: (index + 1) * BLOCK - at]
            if os.pread(self._fd, len(piece), at) != piece:
                self._put(at, piece)
                with self.lock:
                    self.mended.add(index)
            at, data = at + len(piece), data[len(piece) :]

    def read_block(self, index: int, buffer: memoryview) -> memoryview:
        """The bytes of the full block ``index`` in ``buffer``, fewer when the disk has fewer. Raises OSError."""
        start, end = self.blocks.span(index)
        place = buffer[: end - start]
        return place[: os.preadv(self._fd, [place], start)]

    def learn(self, index: int, crc: int) -> bool:
        """Block ``index`` was read and has ``crc``; False when it came with another one. Only under `lock`."""
        if self.blocks.crc(index) is not None:
            return self.blocks.crc(index) == crc
        self.blocks.learn(index, crc)
        self._save(index, index + 1)
        return True

    def reset(self, index: int) -> None:
        """Block ``index`` is wrong: nothing of it is here any more. Only under `lock`."""
        self.saved -= self.blocks.fill(index)
        self.blocks.reset(index)
        self.fresh.discard(index)
        self._save(index, index + 1)

    def _save(self, first: int, last: int) -> None:
        self._keep(first, self.blocks.entries(first, last))

    def _keep(self, first: int, entries: bytes) -> None:
        try:
            _write_all(self._map, entries, entry_at(first))
        except OSError as error:
            raise write_error(error, map_path(self._target)) from error

    def sync(self) -> None:
        """Bring the bytes to the disk."""
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise write_error(error, part_path(self._target)) from error


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise write_error(error, path) from error


def _write_all(fd: int, data: bytes | memoryview, at: int) -> None:
    view = memoryview(data)
    while view:
        count = os.pwrite(fd, view, at)
        at, view = at + count, view[count:]
