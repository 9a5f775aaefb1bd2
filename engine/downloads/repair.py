"""Mending a file that is here: what is wrong is found by reading, and only that is fetched again."""

from __future__ import annotations

import hashlib
import os
import zlib
from pathlib import Path

import msgspec

from engine.downloads.blocks import Blocks, of_sums
from engine.downloads.disk import write_error
from engine.downloads.meter import Meter
from engine.downloads.partial import MAPPED, PartRecord, map_path, part_path, write_record
from engine.errors import VrambleError
from engine.library.names import shown
from engine.library.origin import read_origin


def reopen(target: Path, record: PartRecord, meter: Meter) -> bool:
    """Read the finished file ``target``; True when it is what ``record`` says.

    Otherwise it becomes a part again, whose map has a hole for each block that is not as it came. Where no map was
    kept, or no block is to blame, the record says that all of it is doubtful.

    Raises:
        VrambleError: ``linked-file``, or as `write_error`.
    """
    if target.is_symlink():
        message = f"{shown(target.name)} is a link to a file of another program, so it is not changed from here."
        raise VrambleError("linked-file", message, "Mend it with the program that it belongs to.", shown(target))
    size = record.size or 0
    try:
        origin = read_origin(target)
        blocks = of_sums(origin.blocks if origin else b"", size) or _of_length(target, size)
        found = _read(target, blocks, meter)
        if found == record.sha256 and found is not None:
            return True
        map_path(target).write_bytes(blocks.encode())
        write_record(target, msgspec.structs.replace(record, version=MAPPED, suspect=blocks.is_whole))
        target.replace(part_path(target))
        if part_path(target).stat().st_size > size:
            os.truncate(part_path(target), size)
    except OSError as error:
        raise write_error(error, target) from error
    return False


def _of_length(target: Path, size: int) -> Blocks:
    blocks = Blocks(size)
    blocks.claim_old(min(size, target.stat().st_size))
    return blocks


def _read(target: Path, blocks: Blocks, meter: Meter) -> str | None:
    """Take out of ``blocks`` what is not as it came; gives the sha256 when all of the file could be read."""
    digest, length = hashlib.sha256(), 0
    fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    try:
        for index in range(len(blocks)):
            start, end = blocks.span(index)
            data = _block(fd, start, end)
            length += len(data)
            digest.update(data)
            whole = len(data) == end - start
            if blocks.fill(index) and not (whole and blocks.crc(index) in (None, zlib.crc32(data))):
                blocks.reset(index)
            meter.show("checking", end)
        return digest.hexdigest() if length == os.fstat(fd).st_size == blocks.size else None
    finally:
        os.close(fd)


def _block(fd: int, start: int, end: int) -> bytes:
    """Empty where the drive cannot read it."""
    try:
        return os.pread(fd, end - start, start)
    except OSError:
        return b""


def wrong_bytes(name: str, wanted: str, found: str, *, compared: bool) -> VrambleError:
    """The sha256 is not what the Hub says. ``compared``: after all of the file was fetched a second time."""
    detail = f"sha256 expected {wanted}, found {found}"
    if compared:
        message = f"The server sends {name} damaged: its checksum is wrong each time, so it cannot be used."
        return VrambleError("checksum", message, "Try again later, or choose another file.", detail)
    message = f"{name} arrived damaged: its checksum is wrong, so it is not used."
    step = "Try again: the file is fetched once more, and only what differs is replaced."
    return VrambleError("checksum", message, step, detail)
