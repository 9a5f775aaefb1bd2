"""What a shared library says about itself, read without loading it: the dynamic loader trusts its files and ends the
process (SIGBUS) on one that is cut off.

Layout: System V ABI, "Object Files" and "Dynamic Linking"; symbol versions and the GNU hash table as glibc reads them.
Only 64-bit little-endian files, as every Vramble platform has. Standard library only: the build tool uses it too.
"""

from __future__ import annotations

import os
import platform
import re
import stat
import struct
from dataclasses import dataclass
from pathlib import Path

PLUGIN_ENTRY = "ggml_backend_init"
MACHINES = {"x86_64": 62, "aarch64": 183, "riscv64": 243, "loongarch64": 258}
"""``platform.machine()`` and ``e_machine``."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION_BYTES = 64
_DYNAMIC = struct.Struct("<qQ")
_VERSION_NEED = struct.Struct("<HHIII")
_VERSION_AUX = struct.Struct("<IHHII")
_GNU_HASH = struct.Struct("<IIII")
_SYMBOL = struct.Struct("<IBBHQQ")

_SHARED_OBJECT, _LOAD, _DYNAMIC_SEGMENT = 3, 1, 2
_NEEDED, _STRINGS, _SYMBOLS, _SONAME = 1, 5, 6, 14
_VERSIONS, _VERSION_COUNT, _HASH = 0x6FFFFFFE, 0x6FFFFFFF, 0x6FFFFEF5

_MOST_SEGMENTS = 256
_MOST_DYNAMIC_BYTES = 64 * 1024
_MOST_VERSIONS = 1024
_MOST_CHAIN = 65536
_LONGEST_NAME = 1024
_MEGABYTE = 1_000_000


class NotLoadable(Exception):  # noqa: N818 - it is a finding, told in words
    """The file cannot be a plugin for this process. The text is a sentence for the user."""


@dataclass(frozen=True)
class Library:
    """A shared library that is whole and for this machine.

    Attributes:
        soname: The name under which others need it; empty without one.
        needed: Libraries that the loader must find (``DT_NEEDED``).
        versions: Pairs of library and symbol version that it needs there, such as ``("libc.so.6", "GLIBC_2.34")``.
        is_plugin: Whether it exports ``ggml_backend_init``; None when its table cannot tell.
        size: Bytes.
    """

    soname: str
    needed: tuple[str, ...]
    versions: tuple[tuple[str, str], ...]
    is_plugin: bool | None
    size: int

    def glibc(self) -> tuple[int, ...] | None:
        """The newest glibc that it needs, such as ``(2, 34)``."""
        found = [numbers(name.removeprefix("GLIBC_")) for _, name in self.versions if name.startswith("GLIBC_2")]
        return max(found, default=None)


def numbers(version: str) -> tuple[int, ...]:
    """``(2, 36)`` from ``2.36``; what is no number ends it."""
    match = re.match(r"\d{1,6}(?:\.\d{1,6}){0,3}", version)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def read_library(path: Path, machine: str | None = None) -> Library:
    """Read the headers of ``path``.

    Args:
        machine: ``platform.machine()`` of the process that is to load it; default: this one.

    Raises:
        NotLoadable: with the reason, also when the file may not be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        raise NotLoadable(f"The file cannot be read: {error.strerror}.") from error
    try:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            raise NotLoadable("It is a folder, not a file." if stat.S_ISDIR(state.st_mode) else "It is no plain file.")
        return _File(handle, state.st_size).read(MACHINES.get(machine or platform.machine()))
    except (OSError, struct.error) as error:
        raise NotLoadable(f"The file cannot be read: {error}.") from error
    finally:
        os.close(handle)


class _File:
    """An open file and its segments."""

    def __init__(self, handle: int, size: int) -> None:
        self._handle = handle
        self._size = size
        self._segments: list[tuple[int, int, int]] = []
        """Address, offset and bytes of what is loaded."""

    def read(self, machine: int | None) -> Library:
        dynamic = self._dynamic(self._headers(machine))
        fields = dict(dynamic)
        strings = fields.get(_STRINGS, 0)
        soname = self._text(strings + fields[_SONAME]) if _SONAME in fields else ""
        needed = tuple(self._text(strings + value) for tag, value in dynamic if tag == _NEEDED)
        versions, is_plugin = self._versions(fields, strings), self._exports(fields, strings)
        return Library(soname, needed, versions, is_plugin, self._size)

    def _headers(self, machine: int | None) -> tuple[int, int]:
        """Check the header and the segments; gives offset and size of the dynamic section."""
        if self._size == 0:
            raise NotLoadable("The file is empty.")
        head = self._at(0, min(_HEADER.size, self._size))
        if head[:4] != b"\x7fELF":
            raise NotLoadable("It is no shared library.")
        self._whole(_HEADER.size)
        ident, kind, made_for, _, _, segments, sections, _, _, entry, count, section, sections_count, _ = (
            _HEADER.unpack(head)
        )
        if ident[4] != 2 or ident[5] != 1:
            raise NotLoadable("It is made for another kind of processor (not 64-bit little-endian).")
        if machine is not None and made_for != machine:
            name = {number: name for name, number in MACHINES.items()}.get(made_for, f"type {made_for}")
            raise NotLoadable(f"It is made for another kind of processor ({name}).")
        if kind != _SHARED_OBJECT or entry != _SEGMENT.size or not 0 < count <= _MOST_SEGMENTS:
            raise NotLoadable("It is no shared library.")
        if sections and section == _SECTION_BYTES:
            self._whole(sections + sections_count * section)
        return self._read_segments(segments, count)

    def _read_segments(self, offset: int, count: int) -> tuple[int, int]:
        self._whole(offset + count * _SEGMENT.size)
        dynamic = (0, 0)
        for kind, _, at, address, _, size, _, _ in _SEGMENT.iter_unpack(self._at(offset, count * _SEGMENT.size)):
            if kind == _LOAD and size:
                self._whole(at + size)
                self._segments.append((address, at, size))
            elif kind == _DYNAMIC_SEGMENT:
                dynamic = (at, size)
        if not dynamic[1]:
            raise NotLoadable("It is no shared library.")
        self._whole(sum(dynamic))
        return dynamic

    def _whole(self, needed: int) -> None:
        if needed > self._size:
            raise NotLoadable(f"The file is cut off: {_bytes(self._size)} are there, of at least {_bytes(needed)}.")

    def _dynamic(self, place: tuple[int, int]) -> list[tuple[int, int]]:
        offset, size = place
        size = min(size, _MOST_DYNAMIC_BYTES)
        raw = self._at(offset, size - size % _DYNAMIC.size)
        entries = []
        for tag, value in _DYNAMIC.iter_unpack(raw):
            if tag == 0:
                break
            entries.append((tag, value))
        return entries

    def _versions(self, fields: dict[int, int], strings: int) -> tuple[tuple[str, str], ...]:
        found: list[tuple[str, str]] = []
        address = fields.get(_VERSIONS, 0)
        for _ in range(min(fields.get(_VERSION_COUNT, 0), _MOST_VERSIONS)):
            _, count, file, first, following = _VERSION_NEED.unpack(self._mapped(address, _VERSION_NEED.size))
            library, at = self._text(strings + file), address + first
            for _ in range(min(count, _MOST_VERSIONS)):
                _, _, _, name, step = _VERSION_AUX.unpack(self._mapped(at, _VERSION_AUX.size))
                found.append((library, self._text(strings + name)))
                at += step
            if len(found) > _MOST_VERSIONS or not following:
                break
            address += following
        return tuple(found)

    def _exports(self, fields: dict[int, int], strings: int) -> bool | None:
        """Look `PLUGIN_ENTRY` up in the GNU hash table."""
        table, symbols = fields.get(_HASH), fields.get(_SYMBOLS)
        if table is None or symbols is None:
            return None
        buckets, first, bloom, _ = _GNU_HASH.unpack(self._mapped(table, _GNU_HASH.size))
        wanted = gnu_hash(PLUGIN_ENTRY)
        start = table + _GNU_HASH.size + bloom * 8
        if not buckets:
            return False
        index = self._number(start + 4 * (wanted % buckets))
        for number in range(index, index + _MOST_CHAIN) if index >= first else ():
            value = self._number(start + 4 * (buckets + number - first))
            if value | 1 == wanted | 1 and self._defines(symbols + number * _SYMBOL.size, strings):
                return True
            if value & 1:
                break
        return False

    def _defines(self, symbol: int, strings: int) -> bool:
        name, _, _, section, _, _ = _SYMBOL.unpack(self._mapped(symbol, _SYMBOL.size))
        return section != 0 and self._text(strings + name) == PLUGIN_ENTRY

    def _number(self, address: int) -> int:
        return int.from_bytes(self._mapped(address, 4), "little")

    def _text(self, address: int) -> str:
        raw = self._mapped(address, _LONGEST_NAME, short=True)
        return raw.split(b"\0", 1)[0].decode("utf-8", "replace")

    def _mapped(self, address: int, size: int, *, short: bool = False) -> bytes:
        """The bytes that will lie at ``address``; ``short``: fewer when the segment ends before."""
        for start, offset, length in self._segments:
            room = start + length - address
            if start <= address and room > 0 and (short or room >= size):
                return self._at(offset + address - start, min(size, room))
        raise NotLoadable("It is damaged: its tables point outside the file.")

    def _at(self, offset: int, size: int) -> bytes:
        raw = os.pread(self._handle, size, offset)
        if len(raw) != size:
            raise NotLoadable("The file is cut off.")
        return raw


def _bytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB" if size >= _MEGABYTE else f"{size} bytes"


def gnu_hash(name: str) -> int:
    """The hash of ``DT_GNU_HASH``: h = 33 h + c from 5381, modulo 2^32."""
    value = 5381
    for byte in name.encode():
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value
