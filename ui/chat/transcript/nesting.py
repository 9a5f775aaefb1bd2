"""Quotations and lists around a part, and the markers that it carries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

QUOTE: Final = "q"
ITEM: Final = "l"
BULLET: Final = "•"
LONGEST_LABEL: Final = 4
"""Characters of a footnote's label beside the note."""


@dataclass(slots=True)
class _List:
    ordered: bool
    number: int
    delimiter: str = ""
    items: int = 0
    label: str = ""
    """Of a footnote, which is a list of one item."""
    fresh: bool = False
    """Nothing stands in the present item yet: the next part carries its marker."""

    @property
    def marker(self) -> str:
        if self.label:
            return f"{self.label[:LONGEST_LABEL]}."
        return f"{self.number}{self.delimiter}" if self.ordered else BULLET


@dataclass(slots=True)
class Nesting:
    """What is open while the tokens of a window are walked. ``shared``: frames that the part before stands in, too."""

    frames: list[str] = field(default_factory=list)
    shared: int = 0
    _lists: list[_List] = field(default_factory=list)

    @property
    def in_list(self) -> bool:
        """Whether a list is open."""
        return bool(self._lists)

    @property
    def item_is_empty(self) -> bool:
        """Whether nothing stands in the innermost item yet."""
        return self._lists[-1].fresh

    @property
    def opens_list(self) -> bool:
        """Whether the next part is the first one of the outermost list."""
        return bool(self._lists) and self._lists[0].fresh and self._lists[0].items == 1

    def open_quote(self) -> None:
        """A quotation begins."""
        self.frames.append(QUOTE)

    def close(self) -> None:
        """The innermost quotation or item ends."""
        self.frames.pop()
        self.shared = min(self.shared, len(self.frames))

    def open_list(self, *, ordered: bool, start: int) -> None:
        """A list begins; ``start`` is the number of its first item."""
        self._lists.append(_List(ordered, start))

    def close_list(self) -> None:
        """The innermost list ends."""
        self._lists.pop()

    def open_item(self, delimiter: str) -> None:
        """An item begins; ``delimiter`` stands behind its number."""
        self.frames.append(ITEM)
        innermost = self._lists[-1]
        innermost.fresh, innermost.delimiter = True, delimiter
        innermost.items += 1

    def close_item(self) -> None:
        """The innermost item ends."""
        self._lists[-1].number += 1
        self._lists[-1].fresh = False
        self.close()

    def open_note(self, label: str) -> None:
        """A footnote begins."""
        self._lists.append(_List(True, 1, label=label))
        self.open_item("")

    def place(self) -> tuple[str, int, tuple[str, ...]]:
        """Frames of the next part, how many of them begin with it, and the markers of the items that do."""
        markers = tuple(one.marker for one in self._lists if one.fresh)
        for one in self._lists:
            one.fresh = False
        fresh = len(self.frames) - self.shared
        self.shared = len(self.frames)
        return "".join(self.frames), fresh, markers
