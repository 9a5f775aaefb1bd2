"""The prompt line of `vramble chat`: history, several lines, Ctrl+C."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

PROMPT, MORE = "> ", ". "
FENCE = '"""'
"""A line that begins with it opens a text of several lines, one that ends with it closes it."""

KEPT = 1000
"""Lines of history."""

NEW_LINE_KEYS = r'"\e\C-m": "\C-v\C-j"'
"""Readline: Alt+Enter, or Esc and Enter, puts a line end into the line."""


class TypingLine:
    """Reads messages.

    Args:
        history: File that keeps what was typed; None: nothing is kept.
        read: As `input`.
    """

    def __init__(self, history: Path | None, read: Callable[[str], str] = input) -> None:
        self._history, self._read = history, read
        self._readline = _readline() if sys.stdin.isatty() and sys.stdout.isatty() else None

    def open(self) -> None:
        """Take up the history."""
        if self._readline is not None and self._history is not None:
            with contextlib.suppress(OSError):
                self._readline.read_history_file(self._history)

    def close(self) -> None:
        """Keep the history, readable for its owner only."""
        if self._readline is not None and self._history is not None:
            with contextlib.suppress(OSError):
                self._history.parent.mkdir(parents=True, exist_ok=True)
                self._history.touch(mode=0o600)
                self._readline.set_history_length(KEPT)
                self._readline.write_history_file(self._history)

    def message(self) -> str | None:
        """The next message, of one or several lines; None: end of input.

        Raises:
            KeyboardInterrupt: Ctrl+C; what was typed is dropped.
        """
        try:
            line = self._read(PROMPT)
            if line.lstrip().startswith(FENCE):
                return self._fenced(line.lstrip()[len(FENCE) :])
            return self._continued(line)
        except EOFError:
            print()
            return None

    def _continued(self, line: str) -> str:
        lines = []
        while line.endswith("\\"):
            lines.append(line[:-1])
            line = self._read(MORE)
        return "\n".join([*lines, line])

    def _fenced(self, line: str) -> str:
        lines = []
        while not line.rstrip().endswith(FENCE):
            lines.append(line)
            line = self._read(MORE)
        return "\n".join([*lines, line.rstrip()[: -len(FENCE)]]).strip("\n")


def _readline() -> ModuleType | None:
    try:
        import readline
    except ImportError:
        return None
    if "GNU" in (readline.__doc__ or ""):
        readline.parse_and_bind(NEW_LINE_KEYS)
    return readline
