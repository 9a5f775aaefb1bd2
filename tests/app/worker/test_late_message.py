"""A message that comes between the end of the process and the word on who ended it: it goes on with the next one."""

from __future__ import annotations

import os
import signal
from typing import Any

from app.jobs import SerialRunner
from app.worker.kill_witness import KillWitness
from engine.client.memory_trouble import MemoryState
from engine.client.session import WorkerState
from tests.app.worker.test_safe_mode import MakeWorld, World, make_world

__all__ = ["make_world"]


class HeldExecutor:
    """Keeps the questions to the kernel until they are let go."""

    def __init__(self) -> None:
        self.held: list[Any] = []

    def submit(self, work: Any) -> None:
        self.held.append(work)

    def close(self) -> None:
        self.let_go()

    def let_go(self) -> None:
        while self.held:
            self.held.pop(0)()


def killed_while_idle(world: World) -> HeldExecutor:
    """A world whose worker was killed, and whose witness is still asked about it."""
    executor = HeldExecutor()
    world.service._link._witness = KillWitness(
        SerialRunner(executor, world.service), lambda: MemoryState(oom_kills=0, pressure=0.0, swap_left=1.0)
    )
    world.until_ended(world.load())
    executor.let_go()
    assert world.service.pid is not None
    os.kill(world.service.pid, signal.SIGKILL)
    world.until(lambda: bool(executor.held))
    assert world.service.state is WorkerState.READY
    return executor


def test_it_loads_again_and_is_answered(make_world: MakeWorld) -> None:
    world = make_world(runs=[{}, {}])
    executor = killed_while_idle(world)
    answer = world.ask("still there")
    executor.let_go()
    world.until_ended(answer)
    assert (answer.text, answer.failure) == ("still there", "")
    assert world.starts() == 2
    assert [death.code for death in world.deaths] == ["killed"]


def test_a_load_too(make_world: MakeWorld) -> None:
    world = make_world(runs=[{}, {}])
    executor = killed_while_idle(world)
    load = world.load()
    executor.let_go()
    world.until_ended(load)
    assert load.failure == ""
    assert world.service.state is WorkerState.READY


def test_stopped_before_the_word_comes_it_is_told_as_stopped(make_world: MakeWorld) -> None:
    world = make_world(runs=[{}, {}])
    executor = killed_while_idle(world)
    answer = world.ask("still there")
    world.service.unload()
    executor.let_go()
    world.until_ended(answer)
    assert answer.failure == "stopped"


def test_what_waited_before_the_end_ends_with_it(make_world: MakeWorld) -> None:
    """Its worker is dead when its turn would come: the user is told and decides."""
    world = make_world(runs=[{"generate": {"after": 1, "signal": "SIGABRT"}}, {}])
    world.until_ended(world.load())
    first, second = world.ask("one two three"), world.ask("four")
    world.until_ended(first, second)
    assert (first.failure, second.failure) == ("worker-aborted", "worker-aborted")
