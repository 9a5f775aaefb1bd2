"""The repository that is looked at."""

from __future__ import annotations

import pytest

from app.hub.opened import OpenedRepo
from tests.app.hub.conftest import Bench, code


@pytest.fixture
def opened(bench: Bench) -> OpenedRepo:
    return OpenedRepo(bench.child, bench.pause, lambda: bench.offline, bench.owner)


def repo(opened: OpenedRepo) -> str:
    return opened.page.repo if opened.page is not None else ""


def left(opened: OpenedRepo) -> float | None:
    return opened.wait_left


def test_a_page(bench: Bench, opened: OpenedRepo) -> None:
    opened.open("maker/some-GGUF/m.gguf")
    assert (opened.opening, opened.page) == ("maker/some-GGUF", None)
    bench.cranked.opened("maker/some-GGUF")
    assert (opened.opening, opened.page and opened.page.repo, opened.problem) == ("", "maker/some-GGUF", None)


def test_what_names_no_repository_is_said_at_once(bench: Bench, opened: OpenedRepo) -> None:
    opened.open("nothing")
    assert (code(opened.problem), opened.opening, bench.cranked.asked) == ("repo-name", "", [])


def test_the_next_one_takes_its_place(bench: Bench, opened: OpenedRepo) -> None:
    opened.open("a/a")
    first = bench.cranked.asked[-1]
    opened.open("b/b")
    assert bench.cranked.cancelled == [first.id]
    bench.cranked.opened("b/b")
    assert repo(opened) == "b/b"
    opened.open("c/c")
    assert repo(opened) == ""


def test_refreshing_keeps_the_page_until_the_answer(bench: Bench, opened: OpenedRepo) -> None:
    opened.open("a/a")
    bench.cranked.opened("a/a", kept=True, problem=bench.cranked.failure("hub-unreachable"))
    assert (opened.from_cache, code(opened.problem)) == (True, "hub-unreachable")
    opened.refresh()
    assert repo(opened) == "a/a"
    assert bench.cranked.asked[-1].fresh
    bench.cranked.opened("a/a")
    assert (opened.from_cache, code(opened.problem)) == (False, "")


def test_leaving_wants_nothing_any_more(bench: Bench, opened: OpenedRepo) -> None:
    opened.open("a/a")
    opened.leave()
    assert bench.cranked.cancelled == [bench.cranked.asked[-1].id]
    bench.cranked.opened("a/a")
    assert (opened.page, opened.opening) == (None, "")
    opened.refresh()
    assert len(bench.cranked.asked) == 1


def test_too_many_requests_hold_this_one_too(bench: Bench, opened: OpenedRepo) -> None:
    bench.pause.begin(9.0)
    opened.open("a/a")
    assert [one.offline for one in bench.cranked.asked] == [True]
    bench.cranked.failed("hub-offline")
    assert (left(opened), opened.opening, repo(opened)) == (9.0, "a/a", "")
    bench.pass_time(10.0)
    assert [one.offline for one in bench.cranked.asked] == [True, False]
    bench.cranked.opened("a/a")
    assert repo(opened) == "a/a"
    assert left(opened) is None


def test_a_page_that_is_refused(bench: Bench, opened: OpenedRepo) -> None:
    opened.open("a/a")
    bench.cranked.failed("hub-gated")
    assert opened.problem is not None
    assert (opened.problem.code, opened.opening, opened.page) == ("hub-gated", "", None)
