"""Badges of thousands of rows: a few in each turn, what is seen first, none for ever behind the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.fit.badges import UNKNOWN, Badge
from engine.memory.fit.records import Verdict
from tests.ui.library.fakes import plan
from ui.library.row_badges import SLICE_S, RowBadges

PATIENCE_MS = 60_000
FITS = Badge(plan(Verdict.FITS, "Fits."))
PATHS = [Path(f"/m/{number}.gguf") for number in range(40)]


class Rows:
    """Badges that take a third of a turn each."""

    def __init__(self) -> None:
        self.asked: list[Path] = []
        self.now = 0.0
        self.answer = FITS
        self.turns: list[tuple[Path, ...]] = []
        self.settled = 0
        self.badges = RowBadges(self._fit, clock=lambda: self.now)
        self.badges.changed.connect(self.turns.append)
        self.badges.settled.connect(self._end)

    def _end(self) -> None:
        self.settled += 1

    def _fit(self, path: Path) -> Badge:
        self.asked.append(path)
        self.now += SLICE_S / 3
        return self.answer


@pytest.fixture
def rows(qapp: Any) -> Iterator[Rows]:
    made = Rows()
    yield made
    made.badges.deleteLater()


@pytest.fixture
def until(qtbot: Any) -> Callable[[Callable[[], object]], None]:
    return lambda ready: qtbot.waitUntil(ready, timeout=PATIENCE_MS)


def test_a_few_in_each_turn_in_the_order_that_was_wanted(rows: Rows, until: Any) -> None:
    rows.badges.want(PATHS)
    assert (rows.asked, rows.badges.find(PATHS[0])) == ([], UNKNOWN)
    until(lambda: rows.settled)
    assert rows.asked == PATHS
    assert max(len(turn) for turn in rows.turns) <= 4
    assert rows.badges.find(PATHS[-1]) == FITS


def test_only_what_is_another_one_is_told(rows: Rows, until: Any) -> None:
    rows.badges.want(PATHS)
    until(lambda: rows.settled == 1)
    rows.turns.clear()
    rows.badges.want(PATHS)
    until(lambda: rows.settled == 2)
    assert rows.turns == []
    rows.answer = UNKNOWN
    rows.badges.want(PATHS[:2])
    until(lambda: rows.settled == 3)
    assert [path for turn in rows.turns for path in turn] == PATHS[:2]


def test_wishes_that_never_end_starve_nobody(rows: Rows, until: Any) -> None:
    rows.badges.want(PATHS)
    rows.badges.changed.connect(lambda _paths: rows.badges.want(PATHS))
    until(lambda: set(rows.asked) == set(PATHS))


def test_what_is_seen_now_goes_first(rows: Rows, until: Any) -> None:
    first: list[int] = []

    def look_elsewhere(_paths: object) -> None:
        if not first:
            first.append(len(rows.asked))
            rows.badges.want(PATHS[30:])

    rows.badges.changed.connect(look_elsewhere)
    rows.badges.want(PATHS)
    until(lambda: rows.settled == 1)
    assert first[0] <= 4
    assert rows.asked[first[0] :] == PATHS[30:]


def test_an_empty_wish_ends_it(rows: Rows, until: Any) -> None:
    rows.badges.want(PATHS)
    rows.badges.want(())
    rows.badges.want(PATHS[:1])
    until(lambda: PATHS[0] in rows.asked)
    assert rows.asked == PATHS[:1]
