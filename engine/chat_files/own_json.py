"""The program's own export: one JSON object, with everything that a conversation is.

``{"format": "vramble-conversations", "version": 1, "conversations": [...]}``; the fields are those of
`engine.chat.portable`. A later version of the program may add fields and raises ``version`` when the meaning of one
changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from engine.chat.portable import PortableConversation
from engine.chat_files.documents import LISTED, unpacked

FORMAT: Final = "vramble-conversations"
VERSION: Final = 1
_END: Final = b"\n]}\n"


def encode(conversations: Iterable[PortableConversation]) -> Iterator[bytes]:
    """The export in pieces, one for each conversation."""
    yield b'{"format": "%s", "version": %d, "conversations": [' % (FORMAT.encode(), VERSION)
    before = b"\n"
    for conversation in conversations:
        yield before + msgspec.json.encode(conversation)
        before = b",\n"
    yield _END


def is_own(document: object) -> bool:
    """Whether a decoded file is such an export."""
    return isinstance(document, dict) and document.get("format") == FORMAT


def conversations_of(
    document: dict[str, Any], expect: Callable[[int], None] = lambda _more: None
) -> Iterator[PortableConversation | str]:
    """Each conversation of the export; a sentence for one that cannot be read. ``expect`` is told how many come."""
    version = document.get("version")
    if not isinstance(version, int) or version > VERSION:
        yield "It was exported by a newer version of Vramble."
        return
    found = document.get(LISTED)
    listed = found if isinstance(found, list) else []
    expect(len(listed))
    for entry in listed:
        yield _read(entry)


def _read(entry: object) -> PortableConversation | str:
    try:
        given = unpacked(entry)
    except (ValueError, RecursionError) as error:
        return f"A conversation: {error}"
    try:
        return msgspec.convert(given, PortableConversation, strict=False)
    except (msgspec.ValidationError, RecursionError) as error:
        title = given.get("title") if isinstance(given, dict) else None
        return f"{title if isinstance(title, str) else 'A conversation'}: {error}"
