"""What can be done by a key or by its name: values for the window, the command palette and the sheet of shortcuts."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the user can do.

    Attributes:
        name: In words, as a menu would say it.
        run: Does it.
        keys: Key sequences in Qt's portable text, the first one is shown; none: only the palette has it.
        group: Heading on the sheet of shortcuts.
        listed: The palette offers it.
        bound: The key works everywhere in the window; else what has the keyboard knows it.
        in_chat: It means what the chat shows, so its key does nothing while a page covers that (Game Mode).
    """

    name: str
    run: Callable[[], object]
    keys: tuple[str, ...] = ()
    group: str = ""
    listed: bool = True
    bound: bool = True
    in_chat: bool = False


def folded(text: str) -> str:
    """``text`` for comparing: without case and accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


class Index:
    """Acts by their names; made once, asked at each key."""

    def __init__(self, acts: Iterable[Act]) -> None:
        self._entries = [(folded(act.name), act) for act in acts if act.listed]

    def matching(self, typed: str, most: int) -> list[Act]:
        """Those that have every word of ``typed``, at most ``most``: names that begin with it first, then in order.

        A word matches anywhere in the name, so that parts of words are enough.
        """
        words = folded(typed).split()
        found = [
            (_rank(name, words), number)
            for number, (name, _) in enumerate(self._entries)
            if all(word in name for word in words)
        ]
        return [self._entries[number][1] for _, number in sorted(found)[:most]]


def _rank(name: str, words: Sequence[str]) -> int:
    """0 when the name begins with what was typed, 1 when each word begins one of its words, else 2."""
    if not words or name.startswith(" ".join(words)):
        return 0
    starts = name.split()
    return 1 if all(any(start.startswith(word) for start in starts) for word in words) else 2
