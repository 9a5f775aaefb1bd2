"""What is no file of sysfs or procfs: device nodes, groups, tools, free space. A recorded machine has them as text."""

from __future__ import annotations

import grp
import os
import shutil
import stat
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from engine.client.command import OVERLAYS_OFF
from engine.memory.tree import Tree

TOOL_SECONDS = 10.0

VULKANINFO = "vulkaninfo"
MESA_PACKAGE = "mesa_package"

TOOLS: dict[str, tuple[tuple[str, ...], ...]] = {
    VULKANINFO: (("vulkaninfo", "--summary"),),
    MESA_PACKAGE: (
        ("dpkg-query", "--show", "--showformat=${Version}", "mesa-vulkan-drivers"),
        ("rpm", "--query", "--queryformat=%{VERSION}", "mesa-vulkan-drivers"),
        ("pacman", "-Q", "vulkan-radeon"),
    ),
}
"""Question -> commands, of which the first that is there and succeeds answers."""


class Node(msgspec.Struct, frozen=True):
    """A device node. ``group`` owns it; None when it has no name. ``usable``: may be opened for reading and writing."""

    mode: int
    group: str | None
    usable: bool


class Host(Protocol):
    """The questions that a machine answers. None is "cannot be known"; for a node it is "not there"."""

    def node(self, path: str) -> Node | None:
        """The device node at ``path`` (without the leading slash). Never opens it: that can wake a card."""

    def ask(self, tool: str) -> str | None:
        """What the tool of this name prints (see `TOOLS`)."""

    def free_bytes(self, folder: Path) -> int | None:
        """Free space for this user in the file system that ``folder`` is, or will be, in."""


class ThisHost:
    """The machine itself."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environment = {**environ, **OVERLAYS_OFF, "LC_ALL": "C"}

    def node(self, path: str) -> Node | None:
        """See `Host`."""
        try:
            found = os.stat(f"/{path}")  # noqa: PTH116 - beside os.access, which has no other form
        except OSError:
            return None
        usable = os.access(f"/{path}", os.R_OK | os.W_OK)
        return Node(stat.S_IMODE(found.st_mode), _group_name(found.st_gid), usable)

    def ask(self, tool: str) -> str | None:
        """See `Host`. Takes at most `TOOL_SECONDS` for each command."""
        for command in TOOLS[tool]:
            if shutil.which(command[0]):
                answer = self._output(command)
                if answer:
                    return answer
        return None

    def free_bytes(self, folder: Path) -> int | None:
        """See `Host`."""
        for place in (folder, *folder.parents):
            try:
                return shutil.disk_usage(place).free
            except OSError:
                continue
        return None

    def _output(self, command: Sequence[str]) -> str | None:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=self._environment,
                timeout=TOOL_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


class RecordedHost:
    """A recorded machine below a root.

    ``dev/...`` are text files ``MODE GROUP usable|refused`` such as ``660 render refused``; ``recorded/`` holds what
    tools print (one file for each name in `TOOLS`) and ``models_free`` in bytes.
    """

    def __init__(self, root: Path) -> None:
        self._tree = Tree(root)

    def node(self, path: str) -> Node | None:
        """See `Host`."""
        words = (self._tree.passing(path) or "").split()
        if len(words) != 3 or not set(words[0]) <= set("01234567") or words[2] not in ("usable", "refused"):
            return None
        return Node(int(words[0], 8), words[1], words[2] == "usable")

    def ask(self, tool: str) -> str | None:
        """See `Host`."""
        return self._tree.passing(f"recorded/{tool}")

    def free_bytes(self, folder: Path) -> int | None:
        """See `Host`."""
        text = (self._tree.passing("recorded/models_free") or "").strip()
        return int(text) if text.isdecimal() else None


def host_of(root: Path, environ: Mapping[str, str]) -> Host:
    """The machine itself for ``/``, else a recorded one."""
    return ThisHost(environ) if root == Path("/") else RecordedHost(root)


def _group_name(number: int) -> str | None:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return None
