"""One search: typing, pages, failures, waiting (case 65)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.hub.results import Results
from engine.hub.messages import Search
from engine.hub.records import SearchQuery, Sort
from tests.app.hub.conftest import Bench, code

Until = Callable[[Callable[[], bool]], None]
QUERY = SearchQuery(text="model")


@pytest.fixture
def results(bench: Bench) -> Results:
    return Results(bench.child, bench.pause, lambda: bench.offline, bench.owner)


@pytest.fixture
def until(qtbot) -> Until:
    return lambda condition: qtbot.waitUntil(condition, timeout=60_000)


def names(results: Results) -> list[str]:
    return [row.repo for row in results.rows]


def test_ten_letters_are_one_question(bench: Bench, results: Results, until: Until) -> None:
    for length in range(1, 11):
        results.search(SearchQuery(text="mistralsma"[:length]), now=False)
    assert results.searching
    assert bench.cranked.asked == []
    until(lambda: bool(bench.cranked.asked))
    (asked,) = bench.cranked.asked
    assert isinstance(asked, Search)
    assert asked.query.text == "mistralsma"


def test_rows_and_the_next_page(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.found("a/a", "b/b", cursor="c=2")
    assert (names(results), results.has_more, results.searching) == (["a/a", "b/b"], True, False)
    results.more()
    results.more()
    assert len(bench.cranked.asked) == 2
    last = bench.cranked.asked[-1]
    assert isinstance(last, Search)
    assert last.cursor == "c=2"
    bench.cranked.found("b/b", "c/c")
    assert (names(results), results.has_more) == (["a/a", "b/b", "c/c"], False)
    results.more()
    assert len(bench.cranked.asked) == 2


def test_another_search_takes_the_place_of_one_that_runs(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    old = bench.cranked.asked[-1]
    results.search(SearchQuery(text="other"), now=True)
    assert bench.cranked.cancelled == [old.id]
    bench.cranked.asked.append(old)
    bench.cranked.found("late/answer")
    assert names(results) == []
    bench.cranked.asked.pop()
    bench.cranked.found("a/a")
    assert names(results) == ["a/a"]


def test_earlier_rows_stay_until_there_are_new_ones(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.found("a/a")
    results.search(SearchQuery(text="other"), now=True)
    assert (names(results), results.searching) == (["a/a"], True)
    bench.cranked.found()
    assert names(results) == []


def test_the_same_search_again_asks_nothing(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    results.search(SearchQuery(text=" model "), now=True)
    bench.cranked.found("a/a")
    results.search(QUERY, now=True)
    assert len(bench.cranked.asked) == 1
    results.search(SearchQuery(text="model", sort=Sort.LIKES), now=True)
    assert len(bench.cranked.asked) == 2


def test_enter_does_not_wait_for_the_end_of_typing(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=False)
    results.search(QUERY, now=True)
    assert len(bench.cranked.asked) == 1


def test_a_failure_and_again(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.failed("hub-unreachable")
    assert (code(results.problem), names(results), results.wait_left) == ("hub-unreachable", [], None)
    results.retry()
    asked = bench.cranked.asked[-1]
    assert asked.fresh
    bench.cranked.found("a/a")
    assert (code(results.problem), names(results)) == ("", ["a/a"])


def test_a_page_that_failed_leaves_the_rows_and_is_asked_for_again(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.found("a/a", cursor="c=2")
    results.more()
    bench.cranked.failed("hub-server")
    assert (names(results), results.has_more) == (["a/a"], True)
    results.retry()
    last = bench.cranked.asked[-1]
    assert isinstance(last, Search)
    assert last.cursor == "c=2"
    bench.cranked.found("b/b")
    assert (names(results), results.problem) == (["a/a", "b/b"], None)


def test_kept_rows_come_with_the_reason(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.found("a/a", kept=True, problem=bench.cranked.failure("hub-unreachable"))
    assert (results.from_cache, names(results), results.read_at) == (True, ["a/a"], 5.0)
    assert results.problem is not None


def test_who_asked_too_often_waits_as_told_and_asks_by_itself(bench: Bench, results: Results) -> None:
    changes: list[float | None] = []
    results.changed.connect(lambda: changes.append(results.wait_left))
    results.search(QUERY, now=True)
    bench.cranked.failed("hub-rate-limited", 7.0)
    assert results.wait_left == 7.0
    bench.pass_time(3.0)
    assert changes[-1] == 4.0
    assert len(bench.cranked.asked) == 1
    bench.pass_time(4.0)
    assert len(bench.cranked.asked) == 2
    assert not results.wait_left
    assert not bench.cranked.asked[-1].offline
    bench.cranked.found("a/a")
    assert (names(results), results.problem) == (["a/a"], None)


def test_while_waiting_typing_shows_what_is_known_and_asks_nobody(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.failed("hub-rate-limited", 7.0)
    results.search(SearchQuery(text="other"), now=True)
    assert bench.cranked.asked[-1].offline
    bench.cranked.found("known/one", kept=True)
    assert (names(results), results.wait_left) == (["known/one"], 7.0)
    assert results.problem is not None
    bench.pass_time(8.0)
    last = bench.cranked.asked[-1]
    assert isinstance(last, Search)
    assert (last.query.text, last.offline) == ("other", False)


def test_cancel_ends_the_waiting(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.failed("hub-rate-limited", 7.0)
    results.cancel()
    assert (results.wait_left, results.searching) == (None, False)
    bench.pass_time(60.0)
    assert len(bench.cranked.asked) == 1


def test_without_a_time_it_waits_as_is_usual(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=True)
    bench.cranked.failed("hub-rate-limited")
    assert results.wait_left == 30.0


def test_cancel_stops_typing_and_asking(bench: Bench, results: Results) -> None:
    results.search(QUERY, now=False)
    results.cancel()
    assert not results.searching
    results.search(SearchQuery(text="other"), now=True)
    results.cancel()
    assert bench.cranked.cancelled == [bench.cranked.asked[-1].id]
    bench.cranked.found("a/a")
    assert names(results) == []


def test_offline_is_said_to_the_child(bench: Bench, results: Results) -> None:
    bench.offline = True
    results.search(QUERY, now=True)
    assert bench.cranked.asked[-1].offline
