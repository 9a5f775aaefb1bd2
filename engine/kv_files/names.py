"""Where the files of a conversation lie, and how they go with it. Needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

ENDING: Final = ".kv"
PART: Final = ".part"
"""Behind `ENDING` while a file is being written."""


def conversation_mark(conversation: str) -> str:
    """The beginning of the names of a conversation's files: its id says nothing there."""
    return hashlib.sha256(conversation.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def file_name(conversation: str, mark: str) -> str:
    """Name of the file of ``conversation`` for a model that was loaded with the fingerprint ``mark``."""
    return f"{conversation_mark(conversation)}-{hashlib.sha256(mark.encode()).hexdigest()[:16]}{ENDING}"


def files_of(folder: Path) -> Iterator[Path]:
    """All files in ``folder`` that are of this kind, finished or not."""
    try:
        found = list(folder.iterdir())
    except OSError:
        return
    yield from (path for path in found if path.name.endswith((ENDING, ENDING + PART)))


def forget(folder: Path, conversations: Collection[str]) -> int:
    """Delete the files of ``conversations``; how many there were."""
    marks = {conversation_mark(conversation) for conversation in conversations}
    return _delete(path for path in files_of(folder) if path.name.split("-")[0] in marks)


def sweep(folder: Path, conversations: Collection[str]) -> int:
    """Delete the files of all conversations that are not among these; how many there were."""
    marks = {conversation_mark(conversation) for conversation in conversations}
    return _delete(path for path in files_of(folder) if path.name.split("-")[0] not in marks)


def _delete(paths: Iterator[Path]) -> int:
    count = 0
    for path in paths:
        try:
            path.unlink()
        except OSError:
            continue
        count += 1
    return count
