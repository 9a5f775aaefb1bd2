"""KV caches of conversations on a disk, up to a budget.

Files (`layout.py`) are for this computer only and may go at any time: whatever is odd about one is a reason to delete
it.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from mmap import ACCESS_COPY, mmap
from pathlib import Path

from engine.kv_files.layout import (
    ALIGNMENT,
    MAGIC,
    MOST_HEADER,
    VERSION,
    Checksum,
    Header,
    Stored,
    pieces,
    sane,
    sha256_of,
    start_of,
)
from engine.kv_files.names import ENDING, PART, file_name, files_of


@dataclass(frozen=True)
class Contents:
    """A file that was read and checked. ``state`` can be written to without changing the file."""

    tokens: list[int]
    state: memoryview


class StateFiles:
    """The files of one folder that were written by loads with one fingerprint. No call raises.

    Args:
        budget: Bytes of all files together, those of other models too; 0: none are written or read.
        mark: The fingerprint.
    """

    def __init__(self, folder: Path, budget: int, mark: str) -> None:
        self._folder, self._budget, self._mark = folder, budget, mark

    @property
    def on(self) -> bool:
        """Whether anything is kept."""
        return self._budget > 0

    def find(self, conversation: str) -> Stored | None:
        """The file of a conversation. A file that is damaged or of another kind is deleted."""
        if not (self.on and conversation):
            return None
        path = self._folder / file_name(conversation, self._mark)
        try:
            with path.open("rb") as file:
                start = file.read(len(MAGIC) + 4 + MOST_HEADER)
                size = os.fstat(file.fileno()).st_size
        except OSError:
            return None
        found = sane(path, start, size, self._mark)
        if found is None:
            discard(path)
        return found

    def tokens(self, stored: Stored) -> list[int]:
        """The tokens of a file, unchecked; empty when they cannot be read."""
        tokens = array("i")
        try:
            with stored.path.open("rb") as file:
                file.seek(stored.begin)
                tokens.frombytes(file.read(stored.header.tokens * tokens.itemsize))
        except (OSError, ValueError):
            return []
        return tokens.tolist()

    def read(self, stored: Stored) -> Contents | None:
        """The whole file, if it is as it was written; if not it is deleted."""
        header, begin = stored.header, stored.begin
        try:
            with stored.path.open("rb") as file:
                data = memoryview(mmap(file.fileno(), 0, access=ACCESS_COPY))
        except (OSError, ValueError):
            return None
        length = header.tokens * 4
        rough, state = data[begin : begin + length], data[begin + length :]
        if len(data) != begin + length + header.state or sha256_of(rough, state) != header.sha256:
            discard(stored.path)
            return None
        tokens = array("i")
        tokens.frombytes(rough)
        _touch(stored.path)
        return Contents(tokens.tolist(), state)

    def write(
        self,
        conversation: str,
        tokens: list[int],
        state: memoryview,
        prefill_tps: float,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Keep a state in place of the conversation's last one. The oldest files go where the budget is spent.

        Args:
            stopped: Asked between chunks; true ends it, and the old file stays.
        """
        return self._keep(
            conversation,
            len(state) + 4 * len(tokens) + ALIGNMENT,
            lambda part: self._write(part, tokens, state, prefill_tps, stopped),
        )

    def fill(
        self,
        conversation: str,
        tokens: list[int],
        size: int,
        put: Callable[[memoryview], bool],
        prefill_tps: float,
        stopped: Callable[[], bool] = lambda: False,
    ) -> bool:
        """Like `write`, for a state of ``size`` bytes that ``put`` copies straight into the file: where there is no RAM
        for a copy of it. ``put`` cannot be stopped in the middle, and is as slow as the disk.
        """
        return self._keep(
            conversation,
            size + 4 * len(tokens) + ALIGNMENT,
            lambda part: self._fill(part, tokens, size, put, prefill_tps, stopped),
        )

    def _keep(self, conversation: str, total: int, write: Callable[[Path], bool]) -> bool:
        """Let ``write`` make the file of a conversation, of ``total`` bytes."""
        if total > self._budget or not conversation:
            return False
        path = self._folder / file_name(conversation, self._mark)
        part = path.with_name(path.name + PART)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(total, path)
            written = write(part)
            if written:
                part.replace(path)
            else:
                discard(part)
        except OSError:
            discard(part)
            return False
        return written

    def _write(
        self, part: Path, tokens: list[int], state: memoryview, prefill_tps: float, stopped: Callable[[], bool]
    ) -> bool:
        """The checksum comes last, so the header is written when everything else is."""
        rough = memoryview(array("i", tokens)).cast("B")
        digest = Checksum()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb", buffering=0) as file:
            file.seek(ALIGNMENT)
            for chunk in pieces(rough, state):
                if stopped():
                    return False
                digest.add(chunk)
                _write_all(file.write, chunk)
            start = self._start(len(tokens), len(state), prefill_tps, digest.hexdigest())
            if len(start) > ALIGNMENT:
                return False
            file.seek(0)
            _write_all(file.write, memoryview(start))
        return True

    def _fill(
        self,
        part: Path,
        tokens: list[int],
        size: int,
        put: Callable[[memoryview], bool],
        prefill_tps: float,
        stopped: Callable[[], bool],
    ) -> bool:
        rough = memoryview(array("i", tokens)).cast("B")
        total = ALIGNMENT + len(rough) + size
        handle = os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "r+b", buffering=0):
            os.posix_fallocate(handle, 0, total)  # a full disk is told here; in a mapped page it would be a SIGBUS
            data = memoryview(mmap(handle, total))
            data[ALIGNMENT : ALIGNMENT + len(rough)] = rough
            if stopped() or not put(data[ALIGNMENT + len(rough) :]):
                return False
            digest = Checksum()
            for chunk in pieces(data[ALIGNMENT : ALIGNMENT + len(rough)], data[ALIGNMENT + len(rough) :]):
                if stopped():
                    return False
                digest.add(chunk)
            start = self._start(len(tokens), size, prefill_tps, digest.hexdigest())
            if len(start) > ALIGNMENT:
                return False
            data[: len(start)] = start
        return True

    def _start(self, tokens: int, state: int, prefill_tps: float, sha256: str) -> bytes:
        return start_of(
            Header(version=VERSION, mark=self._mark, tokens=tokens, state=state, prefill_tps=prefill_tps, sha256=sha256)
        )

    def _make_room(self, size: int, replaced: Path) -> None:
        """Delete the files that were not used for the longest time until ``size`` more bytes fit the budget."""
        found = []
        for path in files_of(self._folder):
            if path.name.endswith(ENDING + PART):
                discard(path)
            elif path != replaced:
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        used = sum(length for _, length, _ in found)
        for _, length, path in sorted(found):
            if used + size <= self._budget:
                break
            discard(path)
            used -= length


def _write_all(write: Callable[[memoryview], int | None], data: memoryview) -> None:
    while len(data):
        data = data[write(data) or 0 :]


def _touch(path: Path) -> None:
    """Used just now."""
    try:
        os.utime(path)
    except OSError:
        return


def discard(path: Path) -> None:
    """Delete a file that nobody needs; one that cannot be deleted stays."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
