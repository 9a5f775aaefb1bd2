"""Conversations written as files."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Final

from engine.chat.portable import PortableConversation
from engine.chat_files import own_json, readable
from engine.errors import VrambleError

_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]+')
LONGEST_NAME: Final = 60


class Format(StrEnum):
    """What a file holds; the value is the ending of its name."""

    MARKDOWN = "md"
    JSON = "json"
    HTML = "html"
    TEXT = "txt"


WRITERS: Final[dict[Format, Callable[[Iterable[PortableConversation]], Iterator[bytes]]]] = {
    Format.MARKDOWN: readable.markdown,
    Format.JSON: own_json.encode,
    Format.HTML: readable.page,
    Format.TEXT: readable.plain,
}


def file_name(title: str) -> str:
    """A name for a file, without an ending, that every file system takes."""
    plain = _UNSAFE.sub(" ", title)
    cut = " ".join(plain.split())[:LONGEST_NAME].strip(" .")
    return cut or "Conversation"


def write(conversations: Iterable[PortableConversation], path: Path, form: Format) -> int:
    """Write all into one file; how many there were. The file is there whole, or as it was before.

    Raises:
        VrambleError: ``export-file``.
    """
    counted = _Counted(conversations)
    with _written(path) as draft, draft.open("wb") as file:
        for piece in WRITERS[form](counted):
            file.write(piece)
    return counted.count


def write_each(conversations: Iterable[PortableConversation], path: Path, form: Format) -> int:
    """Write a zip with one file for each; how many there were.

    Raises:
        VrambleError: ``export-file``.
    """
    taken: set[str] = set()
    count = 0
    with _written(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
        for conversation in conversations:
            name = _free(file_name(readable.title(conversation)), taken)
            folder = f"{file_name(conversation.folder)}/" if conversation.folder else ""
            archive.writestr(f"{folder}{name}.{form}", b"".join(WRITERS[form]([conversation])))
            count += 1
    return count


class _Counted:
    """Counts what is taken out of it."""

    def __init__(self, conversations: Iterable[PortableConversation]) -> None:
        self._conversations, self.count = conversations, 0

    def __iter__(self) -> Iterator[PortableConversation]:
        for conversation in self._conversations:
            self.count += 1
            yield conversation


class _written:  # noqa: N801 - used like a function
    """A file beside ``path`` that takes its place when nothing went wrong."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._draft = path.with_name(f".{path.name}.{os.getpid()}.part")

    def __enter__(self) -> Path:
        return self._draft

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._draft.replace(self._path)
                return
        except OSError as failure:
            error = failure
        self._draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            next_step = "Choose another place."
            raise VrambleError("export-file", f"{self._path.name} cannot be written.", next_step, str(error)) from error


def _free(name: str, taken: set[str]) -> str:
    chosen, number = name, 1
    while chosen.casefold() in taken:
        number += 1
        chosen = f"{name} ({number})"
    taken.add(chosen.casefold())
    return chosen
