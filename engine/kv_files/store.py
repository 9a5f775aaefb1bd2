"""KV caches of conversations on a disk, up to a budget.

A file holds, in this order: `MAGIC`, the length of the header (4 bytes, little-endian), the header (JSON), zeros up to
a multiple of `ALIGNMENT`, the tokens (4 bytes each, little-endian), the state as llama.cpp gave it out. Files are for
this computer only and may go at any time: whatever is odd about one is a reason to delete it.
"""

from __future__ import annotations

import hashlib
import os
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from mmap import ACCESS_COPY, mmap
from pathlib import Path
from typing import Final

import msgspec

from engine.kv_files.names import ENDING, PART, file_name, files_of

MAGIC: Final = b"VRAMBLKV"
VERSION: Final = 1
ALIGNMENT: Final = 4096
CHUNK: Final = 8 << 20
"""Bytes that are written or checked between two looks at whether somebody waits."""

MOST_HEADER: Final = 4096


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a file says of itself.

    Attributes:
        mark: Fingerprint of the load whose state this is: model, adapters, engine, device and options.
        tokens: How many.
        state: Bytes of the state.
        prefill_tps: Tokens a second that prompts were read with; 0 unknown.
        sha256: Of tokens and state.
    """

    version: int
    mark: str
    tokens: int
    state: int
    prefill_tps: float
    sha256: str


@dataclass(frozen=True)
class Stored:
    """A file that was found; its header is sane, its content was not looked at."""

    path: Path
    header: Header
    begin: int
    """Where the tokens begin, bytes."""


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
        found = _sane(path, start, size, self._mark)
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
        if len(data) != begin + length + header.state or _sha256(data[begin:]) != header.sha256:
            discard(stored.path)
            return None
        tokens = array("i")
        tokens.frombytes(data[begin : begin + length])
        _touch(stored.path)
        return Contents(tokens.tolist(), data[begin + length :])

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
        total = len(state) + 4 * len(tokens) + ALIGNMENT
        if total > self._budget or not conversation:
            return False
        path = self._folder / file_name(conversation, self._mark)
        part = path.with_name(path.name + PART)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room(total, path)
            written = self._write(part, tokens, state, prefill_tps, stopped)
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
        digest = hashlib.sha256()
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb", buffering=0) as file:
            file.seek(ALIGNMENT)
            for chunk in (*_chunks(rough), *_chunks(state)):
                if stopped():
                    return False
                digest.update(chunk)
                _write_all(file.write, chunk)
            header = msgspec.json.encode(
                Header(
                    version=VERSION,
                    mark=self._mark,
                    tokens=len(tokens),
                    state=len(state),
                    prefill_tps=prefill_tps,
                    sha256=digest.hexdigest(),
                )
            )
            start = MAGIC + len(header).to_bytes(4, "little") + header
            if len(start) > ALIGNMENT:
                return False
            file.seek(0)
            _write_all(file.write, memoryview(start))
        return True

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


def _sane(path: Path, start: bytes, size: int, mark: str) -> Stored | None:
    offset = len(MAGIC) + 4
    length = int.from_bytes(start[len(MAGIC) : offset], "little")
    if start[: len(MAGIC)] != MAGIC or not 0 < length <= ALIGNMENT - offset:
        return None
    try:
        header = msgspec.json.decode(start[offset : offset + length], type=Header)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    whole = header.version == VERSION and header.mark == mark and header.tokens > 0 and header.state > 0
    if not whole or size != ALIGNMENT + 4 * header.tokens + header.state:
        return None
    return Stored(path, header, ALIGNMENT)


def _chunks(data: memoryview) -> Iterator[memoryview]:
    return (data[begin : begin + CHUNK] for begin in range(0, len(data), CHUNK))


def _sha256(data: memoryview) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(data):
        digest.update(chunk)
    return digest.hexdigest()


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
