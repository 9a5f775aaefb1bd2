"""A text as a file."""

from __future__ import annotations

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write ``text`` in UTF-8, ending with a line end, half characters as question marks. Raises OSError."""
    ended = text if text.endswith("\n") else text + "\n"
    path.write_text(ended, encoding="utf-8", errors="replace")
