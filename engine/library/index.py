"""What earlier scans read, so that a file that did not change is not read again.

A cache: it may be deleted, it may be damaged, two programs may write it; the files are the truth.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from engine.library.coding import BROKEN, decoder, encode
from engine.library.gguf import HeaderProblem, ModelHeader
from engine.library.records import InstalledModel
from engine.library.walk import FoundFile

VERSION = 2
"""Another one when the reader finds other facts in the same bytes."""

MAX_ENTRIES = 50_000
MAX_BYTES = 256 * 1024 * 1024

_models = decoder(tuple[InstalledModel, ...])


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, array_like=True):
    """What is known of one file, as long as size, time and inode stay.

    Attributes:
        sha256: Of the bytes that were read, empty when they never were.
        checked: When they were, in seconds since 1970.
        sample: Hash of some blocks, for telling likely duplicates; empty when never needed.
    """

    path: bytes
    size: int
    mtime_ns: int
    inode: int
    header: ModelHeader | None = None
    problem: HeaderProblem | None = None
    sha256: str = ""
    checked: float | None = None
    sample: str = ""

    @property
    def found(self) -> ModelHeader | HeaderProblem | None:
        """What the header said."""
        return self.header or self.problem

    @property
    def bytes_key(self) -> tuple[int, int, int]:
        """Inode, size and time: a file keeps them when it is renamed (as `FoundFile.key` without the device)."""
        return self.inode, self.size, self.mtime_ns

    def fits(self, file: FoundFile) -> bool:
        """It is about the bytes that ``file`` has now."""
        return self.bytes_key == file.key[1:]


class _Stored(msgspec.Struct, kw_only=True):
    version: int
    entries: tuple[Entry, ...] = ()
    roots: dict[str, msgspec.Raw] = {}
    """Models of each root, decoded when the root is not there: thousands take their time."""


class Index:
    """Entries by path, and the models of each root as they were last. Without ``file`` nothing is written."""

    def __init__(self, file: Path | None = None) -> None:
        """``file`` is read when the first thing is asked."""
        self._file = file
        self._entries: dict[bytes, Entry] = {}
        self._by_bytes: dict[tuple[int, int, int], Entry] = {}
        self._roots: dict[str, msgspec.Raw] = {}
        self._loaded = file is None
        self._changed = False

    def get(self, file: FoundFile) -> Entry | None:
        """What is known of ``file``, if it is still the same; also when it has another name by now."""
        self._load()
        path = os.fsencode(file.path)
        entry = self._entries.get(path)
        if entry is not None and entry.fits(file):
            return entry
        before = self._by_bytes.get(file.key[1:])
        return self._keep(msgspec.structs.replace(before, path=path)) if before is not None else None

    def put(self, file: FoundFile, found: ModelHeader | HeaderProblem) -> Entry:
        """Keep the header of ``file``, forgetting what was known of earlier bytes."""
        _, inode, size, mtime_ns = file.key
        entry = Entry(
            path=os.fsencode(file.path),
            size=size,
            mtime_ns=mtime_ns,
            inode=inode,
            header=found if isinstance(found, ModelHeader) else None,
            problem=found if isinstance(found, HeaderProblem) else None,
        )
        return self._keep(entry)

    def note(self, entry: Entry, **changes: Any) -> Entry:
        """Keep ``entry`` with other values."""
        return self._keep(msgspec.structs.replace(entry, **changes))

    def models_of(self, root: str) -> tuple[InstalledModel, ...]:
        """The models of a root as they were when it was seen last."""
        self._load()
        stored = self._roots.get(root)
        return decode_models(bytes(stored)) if stored is not None else ()

    def put_models(self, root: str, models: Iterable[InstalledModel]) -> None:
        """Keep the models of a root that is there."""
        self._load()
        encoded = encode_models(tuple(models))
        stored = self._roots.get(root)
        if stored is None or bytes(stored) != encoded:
            self._roots[root] = msgspec.Raw(encoded)
            self._changed = True

    def keep_only(self, paths: Iterable[Path], roots: Iterable[str]) -> None:
        """Forget files that are gone and roots that nobody has any more."""
        self._load()
        wanted = {os.fsencode(path) for path in paths}
        kept = {path: entry for path, entry in self._entries.items() if path in wanted}
        names = set(roots)
        self._changed |= len(kept) != len(self._entries) or not names.issuperset(self._roots)
        self._entries = kept
        self._by_bytes = {entry.bytes_key: entry for entry in kept.values()}
        self._roots = {name: models for name, models in self._roots.items() if name in names}

    def save(self) -> None:
        """Write what changed, whole or not at all. A cache that cannot be written is no failure."""
        if self._file is None or not self._changed:
            return
        entries = tuple(self._entries.values())[-MAX_ENTRIES:]
        data = msgspec.msgpack.encode(_Stored(version=VERSION, entries=entries, roots=self._roots))
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=f"{self._file.name}.")
            try:
                with os.fdopen(handle, "wb") as out:
                    out.write(data)
                Path(name).replace(self._file)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._changed = False

    def _keep(self, entry: Entry) -> Entry:
        self._load()
        self._entries[entry.path] = entry
        self._by_bytes[entry.bytes_key] = entry
        self._changed = True
        return entry

    def _load(self) -> None:
        if self._loaded or self._file is None:
            return
        self._loaded = True
        stored = _read(self._file)
        if stored is not None and stored.version == VERSION:
            self._entries = {entry.path: entry for entry in stored.entries}
            self._by_bytes = {entry.bytes_key: entry for entry in stored.entries}
            self._roots = dict(stored.roots)


def _read(path: Path) -> _Stored | None:
    try:
        with path.open("rb") as file:
            return msgspec.msgpack.decode(file.read(MAX_BYTES), type=_Stored)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def encode_models(models: tuple[InstalledModel, ...]) -> bytes:
    """As MessagePack; paths as the bytes that the file system has."""
    return encode(models)


def decode_models(data: bytes) -> tuple[InstalledModel, ...]:
    """What `encode_models` made; nothing when it is damaged."""
    try:
        return _models.decode(data)
    except BROKEN:
        return ()
