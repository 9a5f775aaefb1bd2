"""Asking for newer files, one repository after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pytest

from app.library.updates import HasListing, UpdateCheck
from engine.errors import VrambleError
from engine.library.listing import FilePart, RepoFile, RepoListing
from engine.library.states import FileState
from tests.engine.library.test_updates import NEW, model

Answer = HasListing | VrambleError

pytestmark = pytest.mark.usefixtures("qapp")


@dataclass(frozen=True)
class Page:
    """A page of a repository, as far as it matters here."""

    listing: RepoListing


@dataclass
class Hub:
    """Keeps questions until the test answers them."""

    asked: list[str] = field(default_factory=list)
    waiting: list[Callable[[Answer], None]] = field(default_factory=list)

    def __call__(self, repo: str, done: Callable[[Answer], None]) -> None:
        self.asked.append(repo)
        self.waiting.append(done)

    def answer(self, *parts: FilePart) -> None:
        files = tuple(RepoFile(path=p.path, quant="", size=p.size, sha256=p.sha256, parts=(p,)) for p in parts)
        self.waiting.pop(0)(Page(RepoListing(repo=self.asked[-1], files=files)))

    def fail(self, code: str) -> None:
        self.waiting.pop(0)(VrambleError(code, "It did not work."))


NEWER = FilePart(path="m-Q8_0.gguf", size=11, sha256=NEW)
ONE = model()
TWO = msgspec.structs.replace(model("n-Q8_0.gguf"), repo="b/y")


def test_each_repository_is_asked_once_and_one_at_a_time() -> None:
    hub = Hub()
    check = UpdateCheck(hub, clock=lambda: 5.0)
    check.start([ONE, TWO, ONE])
    assert (hub.asked, check.checking) == (["a/x"], True)
    hub.answer(NEWER)
    assert hub.asked == ["a/x", "b/y"]
    hub.answer()
    assert (check.checking, check.checked_at, list(check.updates)) == (False, 5.0, [ONE.path])


def test_a_repository_that_is_gone_does_not_end_the_check() -> None:
    hub = Hub()
    check = UpdateCheck(hub)
    check.start([ONE, TWO])
    hub.fail("hub-no-repo")
    hub.answer(FilePart(path="n-Q8_0.gguf", size=11, sha256=NEW))
    assert (check.problem, list(check.updates)) == (None, [TWO.path])


def test_without_a_network_it_ends_with_the_reason() -> None:
    hub = Hub()
    check = UpdateCheck(hub)
    check.start([ONE, TWO])
    hub.fail("hub-unreachable")
    assert check.problem is not None
    assert (check.problem.code, check.checking, check.checked_at, hub.asked) == (
        "hub-unreachable",
        False,
        None,
        ["a/x"],
    )


def test_a_late_answer_to_an_ended_check_counts_for_nothing() -> None:
    hub = Hub()
    check = UpdateCheck(hub)
    check.start([ONE])
    check.cancel()
    assert not check.checking
    hub.answer(NEWER)
    assert check.updates == {}


def test_what_was_updated_or_deleted_is_dropped() -> None:
    hub = Hub()
    check = UpdateCheck(hub)
    check.start([ONE])
    hub.answer(NEWER)
    check.forget_missing([ONE])
    assert list(check.updates) == [ONE.path]
    check.forget_missing([msgspec.structs.replace(ONE, commit="new")])
    assert check.updates == {}
    check.start([ONE])
    hub.answer(NEWER)
    check.forget_missing([TWO])
    assert check.updates == {}


def test_models_of_no_repository_are_not_asked_for() -> None:
    hub = Hub()
    UpdateCheck(hub).start([model(repo=None), msgspec.structs.replace(ONE, state=FileState.ABSENT)])
    assert hub.asked == []


def test_without_a_hub_nothing_is_found() -> None:
    check = UpdateCheck(None)
    check.start([ONE])
    assert (check.checking, check.updates, check.checked_at) == (False, {}, None)
