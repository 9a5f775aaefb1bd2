"""Recorded machines as one readable text file each, expanded into ``sys/`` and ``proc/`` below a folder.

    # a comment
    in sys/devices/pci0000:00/0000:03:00.0     paths that follow are below this folder
    /proc/meminfo = text                       a leading slash starts at the root again
    vendor = 0x1002                            a file of one line
    product_name =                             a file with nothing but the line end
    driver -> ../../bus/pci/drivers/amdgpu     a symbolic link, as written
    [uevent]                                   a file of several lines, up to the next empty line
    DRIVER=amdgpu

For a look at the window: ``python -m tests.fakes.sysroot steam_deck /tmp/deck`` and then
``VRAMBLE_SYSROOT=/tmp/deck``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "data" / "sysroots"


@dataclass(frozen=True)
class Entry:
    """One file or, with ``link``, one symbolic link. ``path`` is relative to the root."""

    path: str
    text: str = ""
    link: str | None = None


def machines() -> list[str]:
    """Names of the recorded machines that are whole: cards, processes, and what the doctor looks at."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


def cards() -> list[str]:
    """Names of further recordings, of cards and memory only."""
    return sorted(f"cards/{path.stem}" for path in (FOLDER / "cards").glob("*.txt"))


def parse(text: str) -> Iterator[Entry]:
    """The entries in order. Raises ValueError for a line of no known form."""
    base = ""
    lines = iter(text.splitlines())
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("in "):
            base = line[3:].strip().strip("/") + "/"
        elif line.startswith("["):
            name = line[1:].rstrip().removesuffix("]")
            yield Entry(_joined(base, name), "".join(f"{row}\n" for row in _block(lines)))
        elif " -> " in line:
            name, _, target = line.partition(" -> ")
            yield Entry(_joined(base, name), link=target.strip())
        elif " =" in line:
            name, _, value = line.partition(" =")
            yield Entry(_joined(base, name), value.removeprefix(" ") + "\n")
        else:
            raise ValueError(f"no entry: {line!r}")


def _block(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if not line:
            return
        yield line


def _joined(base: str, name: str) -> str:
    name = name.strip()
    return name.lstrip("/") if name.startswith("/") else base + name


def build_sysroot(machine: str, root: Path) -> Path:
    """Write a recorded machine below ``root`` and return ``root``."""
    for entry in parse((FOLDER / f"{machine}.txt").read_text(encoding="utf-8")):
        write(root, entry)
    return root


def write(root: Path, entry: Entry) -> None:
    """Write one entry, over one that is there."""
    path = root / entry.path
    path.parent.mkdir(parents=True, exist_ok=True)
    if entry.link is not None:
        path.unlink(missing_ok=True)
        path.symlink_to(entry.link)
    else:
        path.write_text(entry.text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """``MACHINE FOLDER``."""
    known = machines() + cards()
    if len(arguments) != 2 or arguments[0] not in known:
        print(f"usage: python -m tests.fakes.sysroot {{{','.join(known)}}} FOLDER", file=sys.stderr)
        return 2
    print(build_sysroot(arguments[0], Path(arguments[1])))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
