"""Which file system a folder lies on, and where a card is mounted now.

Read below a root (`VRAMBLE_SYSROOT`): ``proc/self/mounts``, ``dev/disk/by-uuid`` and ``sys/class/block``.
A card is known by the UUID of its file system: its mount point changes with its label, its slot and the desktop.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import msgspec

from engine.memory.tree import Tree

OCTAL = re.compile(r"\\([0-7]{3})")
REMOVABLE_PLACES = ("/run/media/", "/media/", "/mnt/")
FAT = {"vfat", "msdos", "fat"}
FAT_LIMIT = (1 << 32) - 1
"""Largest file of FAT32 in bytes (Microsoft FAT specification: 32-bit file size)."""
NO_DEVICE = {"proc", "sysfs", "cgroup2", "devtmpfs", "tmpfs", "overlay", "squashfs", "autofs"}


class Mount(msgspec.Struct, frozen=True):
    """One line of the table of mounts."""

    device: str
    point: str
    file_system: str
    options: str = ""

    @property
    def file_limit(self) -> int | None:
        """Largest file in bytes, None without a limit that models reach."""
        return FAT_LIMIT if self.file_system in FAT else None

    @property
    def read_only(self) -> bool:
        """Nothing can be written there."""
        return "ro" in self.options.split(",")


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a folder lies, told so that it is found again: ``uuid`` is empty for a drive that stays."""

    mount: Mount | None = None
    uuid: str = ""
    relative: str = ""


class Mounts:
    """The mounts of one moment."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._mounts = tuple(_parse(_table(tree)))

    @property
    def points(self) -> tuple[str, ...]:
        """All mount points, in the kernel's order."""
        return tuple(mount.point for mount in self._mounts)

    def of(self, path: Path) -> Mount | None:
        """The mount that ``path``, without links in it, lies on."""
        text = os.fspath(path)
        best: Mount | None = None
        for mount in self._mounts:  # a later one hides an earlier one at the same point
            point = mount.point.rstrip("/")
            if (text == point or text.startswith(point + "/")) and (best is None or len(point) >= len(best.point)):
                best = mount
        return best

    def place_of(self, path: Path) -> Place:
        """Mount, and for what can be taken out UUID and path below the mount point. ``path`` has no links in it."""
        mount = self.of(path)
        if mount is None:
            return Place()
        uuid = self.uuid_of(mount) if self.is_removable(mount) else ""
        relative = str(path.relative_to(mount.point)) if uuid else ""
        return Place(mount=mount, uuid=uuid, relative="" if relative == "." else relative)

    def uuid_of(self, mount: Mount) -> str:
        """UUID of the file system of ``mount``; empty when there is none."""
        name = PurePosixPath(mount.device).name
        return next((uuid for uuid, device in self._uuids() if device == name), "")

    def find(self, uuid: str, relative: str) -> Path | None:
        """The folder on the file system ``uuid``, where that is mounted now; else None."""
        device = next((device for known, device in self._uuids() if known == uuid), None)
        if device is None:
            return None
        points = [mount.point for mount in self._mounts if PurePosixPath(mount.device).name == device]
        places = [Path(point) / relative for point in points]
        return next((place for place in places if place.is_dir()), places[0] if places else None)

    def is_removable(self, mount: Mount) -> bool:
        """The drive can be taken out: the desktop mounted it, or the kernel says so."""
        if not mount.device.startswith("/dev/") or mount.file_system in NO_DEVICE:
            return False
        if mount.point.startswith(REMOVABLE_PLACES):
            return True
        name = PurePosixPath(mount.device).name
        whole = re.sub(r"(?<=\d)p\d+$|(?<=[a-z])\d+$", "", name)
        return (self._tree.passing(f"sys/class/block/{whole}/removable") or "").strip() == "1"

    def _uuids(self) -> Iterator[tuple[str, str]]:
        for name in self._tree.names("dev/disk/by-uuid"):
            target = self._tree.link(f"dev/disk/by-uuid/{name}")
            if target:
                yield _plain_udev(name), PurePosixPath(target).name


def _table(tree: Tree) -> str:
    return tree.passing("proc/self/mounts") or tree.passing("proc/mounts") or ""


def _parse(table: str) -> Iterator[Mount]:
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) >= 4:
            device, point, kind, options = (_unescaped(field) for field in fields[:4])
            yield Mount(device, point, kind, options)


def _unescaped(text: str) -> str:
    """Blanks, tabs and backslashes are written as three octal digits there (proc(5))."""
    return OCTAL.sub(lambda match: chr(int(match[1], 8)), text)


def _plain_udev(name: str) -> str:
    r"""udev writes odd signs of a name as ``\x20``."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), name)
