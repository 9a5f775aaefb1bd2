"""The bytes of one file: fetched by several connections, hashed from the front while they come."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections.abc import Callable

from engine.downloads.blocks import BLOCK
from engine.downloads.disk import unsteady_disk
from engine.downloads.lanes import Lanes
from engine.downloads.meter import Meter
from engine.downloads.part_file import Partial
from engine.downloads.patience import Patience
from engine.downloads.source import Source
from engine.downloads.throttle import Throttle


class Transfer:
    """Fetches what is missing of one file and hashes all of it.

    The hash follows the front: each full block is read back from the file and hashed, so the hash is that of the bytes
    that lie there. A block of an earlier run is compared with the checksum that it came with as well, and fetched again
    when it has another one.

    Args:
        tag_known: Called with the server's tag when it is known, and when it changes.
        room: Raises VrambleError when the disk has become too full.
        report_s: Seconds between two looks at it.
        stage: What the meter is told: ``loading`` or ``repairing``.
    """

    def __init__(
        self,
        source: Source,
        partial: Partial,
        connections: int,
        patience: Patience,
        throttle: Throttle,
        meter: Meter,
        *,
        tag_known: Callable[[str | None], None],
        room: Callable[[], None],
        report_s: float,
        stage: str = "loading",
    ) -> None:
        self._source = source
        self._partial = partial
        self._lanes = Lanes(source, partial, connections, patience, throttle)
        self._meter = meter
        self._tag_known = tag_known
        self._room = room
        self._report_s = report_s
        self._stage = stage
        self._hash = hashlib.sha256()
        self._hashed = 0
        self._buffer = memoryview(bytearray(BLOCK))
        self._told: str | None = source.tag
        self._next_look = 0.0
        self._only_checks = partial.blocks.is_whole
        self._bad: set[int] = set()

    def run(self) -> str:
        """Fetch and hash until all is here; gives the sha256 as 64 hexadecimal digits.

        Raises:
            VrambleError: A `HubError`, or an error of the disk.
            StartAgainError: See there.
        """
        self._lanes.start()
        try:
            while not self._is_over():
                self._hash_front()
                self._look()
                self._wait()
        finally:
            self._lanes.stop()
        if self._lanes.error is not None:
            raise self._lanes.error
        self._hash_front()
        self._meter.show(self._stage, self._partial.blocks.done, now=True)
        return self._hash.hexdigest()

    def _is_over(self) -> bool:
        lanes, blocks = self._lanes, self._partial.blocks
        with lanes.moved:
            if lanes.finished_size is not None and blocks.done == lanes.finished_size:
                blocks.end_at(lanes.finished_size)
            return lanes.error is not None or (blocks.is_whole and self._hashed == len(blocks))

    def _wait(self) -> None:
        lanes, blocks = self._lanes, self._partial.blocks
        with lanes.moved:
            if lanes.error is None and blocks.full_blocks <= self._hashed and not blocks.is_whole:
                lanes.moved.wait(max(self._report_s, 0.02))

    def _hash_front(self) -> None:
        """Hash all full blocks that follow those that were hashed."""
        blocks, lanes = self._partial.blocks, self._lanes
        while True:
            with lanes.moved:
                if blocks.full_blocks <= self._hashed or lanes.error is not None:
                    return
            data = self._read()
            if data is not None:
                self._hash.update(data)
                self._hashed += 1
            self._look()

    def _read(self) -> memoryview | None:
        """The next block, or None when it is not as it came and will be fetched again."""
        partial, index = self._partial, self._hashed
        try:
            data = partial.read_block(index, self._buffer)
        except OSError:
            data = self._buffer[:0]
        with self._lanes.moved:
            start, end = partial.blocks.span(index)
            if len(data) == end - start and self._is_as_it_came(index, data):
                return data
            if index in self._bad:
                raise unsteady_disk()
            self._bad.add(index)
            partial.reset(index)
            self._only_checks = False
            self._lanes.fetch_again((start, end))
        return None

    def _is_as_it_came(self, index: int, data: memoryview) -> bool:
        """Only asked of blocks that were here before: what was written a moment ago comes out of memory."""
        return index in self._partial.fresh or self._partial.learn(index, zlib.crc32(data))

    def _look(self) -> None:
        """Tell how far it is, keep the server's tag, and see whether the disk has room."""
        if self._source.tag != self._told:
            self._told = self._source.tag
            self._tag_known(self._told)
        with self._lanes.telling:
            if not self._lanes.waits:  # else that is what there is to tell, and how long
                self._tell()
        now = time.monotonic()
        if now >= self._next_look:
            self._next_look = now + self._report_s
            self._room()

    def _tell(self) -> None:
        blocks = self._partial.blocks
        if self._only_checks:
            self._meter.show("checking", blocks.span(self._hashed)[0])
            return
        stage = "checking" if blocks.is_whole else self._stage
        self._meter.show(stage, self._partial.saved, connections=self._lanes.n_open)
