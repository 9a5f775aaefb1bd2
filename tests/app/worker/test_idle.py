"""A model that nobody uses is unloaded after the set time, by a hand-turned clock; the next message loads it again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from app.worker.idle import NOTICE, IdleUnload
from app.worker.settings import WorkerSettings
from engine.client.session import WorkerState
from tests.app.worker.test_safe_mode import MakeWorld, World, make_world

__all__ = ["make_world"]


class Rest:
    """A world and a clock."""

    def __init__(self, world: World, minutes: int) -> None:
        self.world = world
        self.now = 500.0
        world.settings.put(WorkerSettings(idle_unload_minutes=minutes))
        self.idle = IdleUnload(world.service, world.settings, world.service_notices, clock=lambda: self.now)

    def wait(self, minutes: float) -> None:
        for _ in range(round(minutes * 6)):
            self.now += 10
            self.idle.look()

    @property
    def told(self) -> list[str]:
        return [notice.text for notice in self.world.notices if notice.key == NOTICE]


@pytest.fixture
def make_rest(make_world: MakeWorld) -> Iterator[Any]:
    made: list[IdleUnload] = []

    def make(minutes: int = 20, **script: Any) -> Rest:
        rest = Rest(make_world(**script), minutes)
        rest.world.until_ended(rest.world.load())
        made.append(rest.idle)
        return rest

    yield make
    for idle in made:
        idle.deleteLater()


def test_it_is_unloaded_told_and_back_with_the_next_message(make_rest: Any) -> None:
    rest = make_rest(20)
    rest.wait(19.5)
    assert rest.world.service.state is WorkerState.READY
    rest.wait(0.5)
    rest.world.until_state(WorkerState.STOPPED)
    assert rest.told == ["tiny was unloaded after 20 minutes without a message. The next message loads it again."]
    assert rest.world.deaths == []
    answer = rest.world.ask("back again")
    rest.world.until_ended(answer)
    assert answer.text == "back again"
    assert NOTICE in rest.world.withdrawn
    rest.wait(19)
    assert rest.world.service.state is WorkerState.READY


def test_conversations_are_kept_before_the_model_goes(make_rest: Any) -> None:
    rest = make_rest(1)
    rest.wait(1)
    rest.world.until_state(WorkerState.STOPPED)
    assert len(rest.world.received("save_caches")) == 1


def test_a_message_that_comes_while_they_are_kept_finds_its_model(make_rest: Any) -> None:
    rest = make_rest(1, save_caches={"steps": 1_000_000, "delay": 0.01})
    rest.wait(1)
    rest.world.until(lambda: len(rest.world.received("save_caches")) == 1)
    rest.wait(5)
    answer = rest.world.ask("wait")
    rest.world.until_ended(answer)
    assert (answer.text, rest.told, rest.world.starts()) == ("wait", [], 1)
    assert rest.world.service.state is WorkerState.READY


def test_each_answer_begins_the_time_anew(make_rest: Any) -> None:
    rest = make_rest(20)
    for _ in range(3):
        rest.wait(19)
        rest.world.until_ended(rest.world.ask())
    assert rest.world.service.state is WorkerState.READY


def test_never_while_something_is_written(make_rest: Any) -> None:
    rest = make_rest(1, generate={"after": 1, "silence": True})
    answer = rest.world.ask()
    rest.world.until(lambda: bool(answer.deltas))
    rest.wait(200)
    assert rest.world.service.state is WorkerState.GENERATING


def test_never_while_somebody_needs_the_model(make_rest: Any) -> None:
    rest = make_rest(5)
    needed = [True]
    rest.idle.keep_while(lambda: needed[0])
    rest.wait(60)
    needed[0] = False
    rest.wait(4.5)
    assert rest.world.service.state is WorkerState.READY
    rest.wait(0.5)
    rest.world.until_state(WorkerState.STOPPED)


def test_zero_is_never_and_a_change_counts_at_once(make_rest: Any) -> None:
    rest = make_rest(0)
    rest.wait(1000)
    assert rest.world.service.state is WorkerState.READY
    rest.world.settings.put(WorkerSettings(idle_unload_minutes=1))
    rest.wait(1)
    rest.world.until_state(WorkerState.STOPPED)
    assert rest.told[0].startswith("tiny was unloaded after a minute ")


def test_a_worker_without_a_model_is_left_running(make_world: MakeWorld) -> None:
    rest = Rest(make_world(), 1)
    rest.world.service.start()
    rest.world.until_state(WorkerState.IDLE)
    rest.wait(100)
    assert (rest.world.service.state, rest.told) == (WorkerState.IDLE, [])
