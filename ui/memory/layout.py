"""What the strip shows at a given width: labels and bars in one line. Pure.

When the room is short, labels get shorter and then go, the least important first; what stays is never cut.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ui.memory.shares import Bar, Owner, Region

Measure = Callable[[str], float]


@dataclass(frozen=True)
class Form:
    """One way to show an item. ``reserve`` is the widest text it may become, so that nothing jumps."""

    text: str = ""
    reserve: str = ""


@dataclass(frozen=True)
class Item:
    """A label or a bar.

    Attributes:
        forms: From the longest to the shortest; an empty text hides a label.
        ranks: Importance of each step to the next form: a lower one is taken earlier.
        bar: Drawn instead of a text, in the room that is left.
        least: Smallest width of a bar, pixels.
        weight: Part of the left room that a bar gets.
        key: Which pattern stands before the text.
        muted: A side note.
        far: Belongs to the right end.
    """

    forms: tuple[Form, ...] = (Form(),)
    ranks: tuple[int, ...] = ()
    bar: Bar | None = None
    least: float = 0
    weight: int = 0
    key: tuple[Region, Owner] | None = None
    muted: bool = False
    far: bool = False


@dataclass(frozen=True)
class Placed:
    """An item at its place, pixels from the left edge."""

    x: float
    width: float
    text: str = ""
    bar: Bar | None = None
    key: tuple[Region, Owner] | None = None
    muted: bool = False


@dataclass
class _Row:
    items: tuple[Item, ...]
    measure: Measure
    key_width: float
    step: list[int] = field(default_factory=list)

    def shown(self) -> list[int]:
        """Indexes of what is not hidden."""
        return [i for i, item in enumerate(self.items) if self.form(i).text or (item.bar and not self.dropped(i))]

    def form(self, index: int) -> Form:
        return self.items[index].forms[min(self.step[index], len(self.items[index].forms) - 1)]

    def dropped(self, index: int) -> bool:
        return self.items[index].bar is not None and self.step[index] > 0

    def width(self, index: int) -> float:
        item = self.items[index]
        if item.bar is not None:
            return item.least
        form = self.form(index)
        key = self.key_width if item.key is not None else 0
        return key + max(self.measure(form.text), self.measure(form.reserve))

    def shorten(self) -> bool:
        """Take the least important step; False when there is none left."""
        steps = [(item.ranks[self.step[i]], i) for i, item in enumerate(self.items) if self.step[i] < len(item.ranks)]
        if not steps:
            return False
        self.step[min(steps)[1]] += 1
        return True


def arrange(
    items: tuple[Item, ...], width: float, measure: Measure, *, gap: float, key_width: float
) -> tuple[Placed, ...]:
    """Place ``items`` in ``width`` pixels.

    Args:
        measure: Width of a text in pixels.
        gap: Pixels between two items.
        key_width: Pixels for the pattern before a text.
    """
    row = _Row(items, measure, key_width, [0] * len(items))
    while _needed(row, gap) > width and row.shorten():
        pass
    return _place(row, width, gap)


def _needed(row: _Row, gap: float) -> float:
    shown = row.shown()
    return sum(row.width(i) for i in shown) + gap * max(0, len(shown) - 1)


def _place(row: _Row, width: float, gap: float) -> tuple[Placed, ...]:
    shown = row.shown()
    left = max(0.0, width - _needed(row, gap))
    weights = sum(row.items[i].weight for i in shown)
    placed = []
    x = 0.0
    for index in shown:
        item = row.items[index]
        if not weights and item.far:
            x += left
            left = 0.0
        own = row.width(index) + (left * item.weight / weights if weights else 0.0)
        text = row.form(index).text
        placed.append(Placed(x, own, text, item.bar, item.key, item.muted))
        x += own + gap
    return tuple(placed)
