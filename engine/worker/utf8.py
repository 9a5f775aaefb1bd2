"""Bytes of tokens to text: a character may be spread over several tokens."""

from __future__ import annotations

import codecs

_decoder = codecs.getincrementaldecoder("utf-8")


class Utf8Stream:
    """Incremental UTF-8. Gives whole characters; bytes that can never become one turn into U+FFFD at once."""

    def __init__(self) -> None:
        self._decoder = _decoder("replace")

    @property
    def cut(self) -> bool:
        """Whether the last character is not complete yet."""
        return bool(self._decoder.getstate()[0])

    def feed(self, data: bytes) -> str:
        """Characters completed by ``data``; the beginning of the next one is kept."""
        return self._decoder.decode(data)

    def flush(self) -> str:
        """The end: a character that was never finished becomes one U+FFFD."""
        return self._decoder.decode(b"", True)
