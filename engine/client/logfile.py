"""A log file that does not grow without end."""

from __future__ import annotations

from pathlib import Path

LOG_BYTES = 1024 * 1024


def append_rotating(path: Path, text: str, limit: int = LOG_BYTES) -> None:
    """Append ``text`` to ``path``; a file of ``limit`` bytes becomes ``<name>.1`` first, replacing the one before.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        full = path.stat().st_size >= limit
    except FileNotFoundError:
        full = False
    if full:
        path.replace(path.with_name(path.name + ".1"))
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write(text)
