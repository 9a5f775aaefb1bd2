"""JSON files, opened no further than needed: a file of 500 MB is many times that as objects."""

from __future__ import annotations

import json
from typing import Final

import msgspec

from engine.errors import VrambleError

LISTED: Final = "conversations"
"""The member of an object that lists conversations: its entries stay packed."""

_SHALLOW: Final = msgspec.json.Decoder(list[msgspec.Raw] | dict[str, msgspec.Raw])
_LIST: Final = msgspec.json.Decoder(list[msgspec.Raw])


def decoded(content: bytes, name: str) -> object:
    """A JSON file. Entries of a list at the top, or of its `LISTED`, may be packed: `unpacked` gives the value.

    Raises:
        VrambleError: ``import-file`` when it is no JSON.
    """
    content = content.removeprefix(b"\xef\xbb\xbf")
    try:
        found = _SHALLOW.decode(content)
        return found if isinstance(found, list) else {key: _member(key, value) for key, value in found.items()}
    except (ValueError, RecursionError):  # msgspec's own errors are among them
        return _whole(content, name)


def unpacked(entry: object) -> object:
    """The value of an entry.

    Raises:
        ValueError: It is no JSON.
        RecursionError: It is nested too deeply.
    """
    if not isinstance(entry, msgspec.Raw):
        return entry
    try:
        return msgspec.json.decode(entry)
    except (ValueError, RecursionError):
        return json.loads(bytes(entry))


def _member(key: str, value: msgspec.Raw) -> object:
    if key == LISTED:
        try:
            return _LIST.decode(value)
        except msgspec.ValidationError:
            pass
    return msgspec.json.decode(value)


def _whole(content: bytes, name: str) -> object:
    """The standard library takes half characters (``"\\ud83d"``) too, which others write."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        next_step = "It may be cut off; export it again."
        raise VrambleError("import-file", f"{name} is not whole.", next_step, str(error)) from error
