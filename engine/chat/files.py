"""Small files that the user chose: written whole, read up to a limit. Not on the GUI thread."""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path

from engine.library.regular import open_regular


def write_whole(path: Path, content: bytes) -> None:
    """Write ``content``; OSError when that is not possible."""
    path.write_bytes(content)


def read_whole(path: Path, largest: int) -> bytes | None:
    """What is in the file; None when that is more than ``largest`` bytes; OSError when it cannot be read."""
    with BufferedReader(open_regular(path)) as file:
        content = file.read(largest + 1)
    return content if len(content) <= largest else None
