"""Which models are shown, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from app.library.service import InstalledModel
from ui.library.keep.columns import Column

Row = InstalledModel


@dataclass(frozen=True)
class Order:
    """What somebody wants to see.

    Attributes:
        root: Id of the only folder that is shown, "" all.
        words: All of them must be in the text of a row, in lower case.
        column: What the rows are sorted by; None: as they come.
    """

    root: str = ""
    words: tuple[str, ...] = ()
    column: Column | None = None
    descending: bool = False

    def narrowed(self, root: str, words: str) -> Order:
        """The same, for another folder and other words."""
        return replace(self, root=root, words=tuple(words.casefold().split()))

    def sorted_by(self, column: Column, *, descending: bool) -> Order:
        """The same in another order."""
        return replace(self, column=column, descending=descending)


def arranged(
    rows: Iterable[Row], order: Order, key: Callable[[Row, Column], Any], text: Callable[[Row], str]
) -> tuple[Row, ...]:
    """``rows`` as ``order`` says; those without a ``key`` are last in both directions, equals stay as they were."""
    found = [row for row in rows if _fits(row, order, text)]
    if order.column is None:
        return tuple(found)
    column = order.column
    keys = [(key(row, column), row) for row in found]
    known = sorted((pair for pair in keys if pair[0] is not None), key=lambda pair: pair[0], reverse=order.descending)
    return (*(row for _, row in known), *(row for value, row in keys if value is None))


def _fits(row: Row, order: Order, text: Callable[[Row], str]) -> bool:
    if order.root and row.root != order.root:
        return False
    if not order.words:
        return True
    there = text(row)
    return all(word in there for word in order.words)
