"""What lies where a file will be: ``x.gguf.part`` with its bytes, ``x.gguf.part.json`` and ``x.gguf.part.map``.

The record says of which file the bytes are a part, the map which of them are here (`engine.downloads.blocks`). A map's
entry is written after its bytes, so both are right at each moment, also after kill -9.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import msgspec

from engine.downloads.blocks import Blocks, decode
from engine.downloads.disk import write_error
from engine.library.listing import FilePart

PART = ".part"
RECORD = ".part.json"
MAP = ".part.map"


MAPPED = 2
"""Version of records that a map belongs to."""


class PartRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Of what a ``.part`` file is a part.

    Attributes:
        repo: ``owner/repo``.
        revision: What was asked for, such as ``main``.
        commit: Commit the bytes come from.
        path: Path in the repository.
        size: Whole size in bytes, None when unknown.
        sha256: Of the whole file, None when unknown.
        etag: The Hub's tag for the content.
        served_etag: Tag of the server that sent the bytes; for If-Range.
        version: 1 is of a file whose bytes are here from its beginning, as far as it is long.
        verified: The sha256 over all bytes was right.
        blocks: Of a finished file, as in `engine.library.origin.Origin`.
        suspect: All bytes were here and the sha256 was wrong, without a block that tells where.
        files: All files of the download this one belongs to.
    """

    version: int = 1
    repo: str
    revision: str = "main"
    commit: str | None = None
    path: str
    size: int | None = None
    sha256: str | None = None
    etag: str | None = None
    served_etag: str | None = None
    verified: bool = False
    suspect: bool = False
    blocks: bytes = b""
    files: tuple[FilePart, ...] = ()

    def same_content(self, other: PartRecord) -> bool:
        """Bytes of this one can be used for ``other``."""
        if self.sha256 and other.sha256:
            return self.sha256 == other.sha256
        return bool(self.etag) and self.etag == other.etag and self.size == other.size


def part_path(target: Path) -> Path:
    """Where the bytes of ``target`` gather."""
    return target.with_name(target.name + PART)


def record_path(target: Path) -> Path:
    """Where the record of ``target`` lies."""
    return target.with_name(target.name + RECORD)


def map_path(target: Path) -> Path:
    """Where the map of ``target`` lies."""
    return target.with_name(target.name + MAP)


def read_blocks(path: Path, size: int | None) -> Blocks | None:
    """The map at ``path`` of a file of ``size`` bytes, or None when there is none that fits."""
    try:
        return decode(path.read_bytes(), size)
    except OSError:
        return None


def bytes_here(target: Path, size: int | None) -> int:
    """How many bytes of ``target`` are here: by the map, or by the length of a ``.part`` file without one."""
    try:
        length = part_path(target).stat().st_size
    except OSError:
        return 0
    blocks = read_blocks(map_path(target), size)
    return blocks.done if blocks is not None else length


def read_record(path: Path) -> PartRecord | None:
    """The record at ``path``, or None when there is none that makes sense."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=PartRecord)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def write_record(target: Path, record: PartRecord) -> None:
    """Save ``record`` for ``target``, whole or not at all."""
    path = record_path(target)
    new = path.with_name(path.name + ".new")
    try:
        new.write_bytes(msgspec.json.encode(record))
        new.replace(path)
    except OSError as error:
        raise write_error(error, path) from error


def remove_partial(target: Path) -> int:
    """Delete what is here of ``target``; gives the bytes that were there."""
    size = 0
    with contextlib.suppress(OSError):
        size = part_path(target).stat().st_blocks * 512
    new_map = map_path(target).with_name(map_path(target).name + ".new")
    for path in (part_path(target), record_path(target), map_path(target), new_map):
        path.unlink(missing_ok=True)
    return size
