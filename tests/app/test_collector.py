"""Cyclic garbage ends on the thread of the window, and on no other."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.collector import GIVE_BACK_SECONDS, GuiThreadCollector, give_back
from app.jobs import SerialRunner, ThreadExecutor


@pytest.fixture
def collector(qtbot: QtBot) -> Iterator[GuiThreadCollector]:
    was_enabled = gc.isenabled()
    gc.enable()
    made = GuiThreadCollector()
    made.start()
    yield made
    made.stop()
    assert gc.isenabled()
    if not was_enabled:
        gc.disable()


class Cycle:
    """Unreachable from the start, but only the collector can tell. Remembers where it ended."""

    ended_in: list[int]

    def __init__(self, ended_in: list[int]) -> None:
        self.me = self
        self.ended_in = ended_in

    def __del__(self) -> None:
        self.ended_in.append(threading.get_ident())


def make_garbage(ended_in: list[int], count: int) -> None:
    for _ in range(count):
        Cycle(ended_in)


def test_garbage_of_a_background_thread_ends_on_the_gui_thread(qtbot: QtBot, collector: GuiThreadCollector) -> None:
    collector._timer.stop()  # it would look while a slow thread is waited for
    ended_in: list[int] = []
    runner = SerialRunner(ThreadExecutor("garbage"))
    with qtbot.waitCallback() as done:
        runner.run(lambda: make_garbage(ended_in, 5000), done)
    assert ended_in == []
    collector.look()
    assert len(ended_in) == 5000
    assert set(ended_in) == {threading.get_ident()}
    runner.close()


def test_it_looks_by_itself(qtbot: QtBot, collector: GuiThreadCollector) -> None:
    ended_in: list[int] = []
    make_garbage(ended_in, 5000)
    qtbot.waitUntil(lambda: len(ended_in) == 5000)


def test_nothing_is_collected_when_nothing_is_due(
    collector: GuiThreadCollector, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []
    monkeypatch.setattr(gc, "collect", collected.append)
    monkeypatch.setattr(gc, "get_count", lambda: (1, 1, 1))
    collector.look()
    assert collected == []
    monkeypatch.setattr(gc, "get_count", lambda: (10_000, 50, 1))
    collector.look()
    assert collected == [1]


@pytest.mark.parametrize(("counts", "times"), [((0, 0, 0), 0), ((10_000, 0, 0), 0), ((0, 100, 0), 0), ((0, 0, 100), 1)])
def test_holes_are_given_back_when_everything_was_collected(
    monkeypatch: pytest.MonkeyPatch, counts: tuple[int, int, int], times: int
) -> None:
    given: list[None] = []
    monkeypatch.setattr("app.collector.give_back", lambda: given.append(None))
    monkeypatch.setattr(gc, "get_count", lambda: counts)
    monkeypatch.setattr(gc, "get_threshold", lambda: (700, 10, 10))
    now = [0.0]
    collector = GuiThreadCollector(clock=lambda: now[0])
    collector.look()
    assert len(given) == times
    now[0] = GIVE_BACK_SECONDS - 1
    collector.look()
    assert len(given) == times
    now[0] = GIVE_BACK_SECONDS
    collector.look()
    assert len(given) == 2 * times


def test_a_c_library_that_cannot_give_back_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    give_back()
    monkeypatch.setattr("app.collector.ctypes.CDLL", lambda _name: object())
    give_back()
