"""Text at the border of the store: what SQLite, Qt and JSON all accept."""

from __future__ import annotations

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"
_CONTROL_PICTURES: Final = 0x2400
_KEPT = {"\t", "\n"}


def _table() -> dict[int, str]:
    table = {code: chr(_CONTROL_PICTURES + code) for code in range(1, 0x20) if chr(code) not in _KEPT}
    table[0x00] = REPLACEMENT
    table[0x7F] = "\u2421"
    table.update(dict.fromkeys(range(0x80, 0xA0), REPLACEMENT))
    table[0x85] = "\n"
    return table


_REPLACED: Final = _table()
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """``text`` with line ends as ``\\n`` and without what cannot be stored or shown.

    Lone surrogates and NUL become U+FFFD, a surrogate pair its character, other control characters
    their visible symbols (ESC is ␛). Cleaning twice changes nothing.
    """
    if _UNCLEAN.search(text) is None:
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n").translate(_REPLACED)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class StreamCleaner:
    """`clean` for text that arrives in pieces: a line end cut in two stays one."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, piece: str) -> str:
        """The clean form of ``piece``, without a trailing CR or high surrogate that may belong to the next."""
        whole = self._held + piece
        self._held = whole[-1:] if whole.endswith("\r") or "\ud800" <= whole[-1:] <= "\udbff" else ""
        return clean(whole[: len(whole) - len(self._held)])

    def finish(self) -> str:
        """What was held back."""
        rest, self._held = clean(self._held), ""
        return rest
