"""The last lines that the worker wrote to its log."""

from __future__ import annotations

import re
from collections import deque
from pathlib import Path

KEPT_LINES = 200
LONGEST_LINE = 2000
"""Characters; a longer line is cut. Native libraries may write endless lines."""


class LogTail:
    """Takes bytes, cut anywhere, and keeps the last whole lines and the unfinished one."""

    def __init__(self, lines: int = KEPT_LINES) -> None:
        self._lines: deque[str] = deque(maxlen=lines)
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Add ``data``; the lines that it completed."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-4 * LONGEST_LINE :]
        lines = [_text(line) for line in whole]
        self._lines.extend(lines)
        return lines

    def text(self, lines: int = KEPT_LINES) -> str:
        """The last ``lines`` lines that are not blank, the unfinished one included."""
        found = [line for line in [*self._lines, _text(self._rest)] if line.strip()]
        return "\n".join(found[-lines:])


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "replace").replace("\0", "\ufffd")[:LONGEST_LINE]


def shorten_home(text: str, home: Path | None = None) -> str:
    """``text`` with the user's folder written as ``~``: logs get copied into bug reports."""
    folder = str(home if home is not None else Path.home()).rstrip("/")
    if not folder:
        return text
    return re.sub(rf"(?<![\w.~-]){re.escape(folder)}(?![\w.-])", "~", text)
