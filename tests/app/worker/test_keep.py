"""Caches of conversations go to the disk before a model is given up; with a scripted worker."""

from __future__ import annotations

from app.worker.settings import WorkerSettings
from engine.client.session import WorkerState
from engine.protocol.types import LoadOptions
from tests.app.worker.test_safe_mode import MakeWorld, World, make_world

__all__ = ["make_world"]

ENDLESS = {"steps": 1_000_000, "delay": 0.01}
"""A save that ends only by a cancel."""


def loaded(make_world: MakeWorld, **script: object) -> World:
    world = make_world(**script)
    world.until_ended(world.load(options=LoadOptions(n_parallel=2)))
    return world


def keep(world: World) -> list[None]:
    done: list[None] = []
    world.service.keep_caches(lambda: done.append(None))
    assert done == []
    return done


def test_the_worker_is_told_once_and_the_caller_when_it_has_ended(make_world: MakeWorld) -> None:
    world = loaded(make_world)
    done = keep(world)
    world.until(lambda: len(done) == 1)
    assert [frame["seconds"] for frame in world.received("save_caches")] == [10.0]
    assert (world.service.idle, world.service.state) == (True, WorkerState.READY)


def test_it_waits_for_answers_and_gives_way_to_new_ones(make_world: MakeWorld) -> None:
    world = loaded(make_world, save_caches=ENDLESS)
    done = keep(world)
    world.until(lambda: len(world.received("save_caches")) == 1)
    answer = world.ask("a question")
    world.until_ended(answer)
    assert (len(done), answer.text) == (1, "a question")


def test_nobody_waits_where_nothing_is_to_be_kept(make_world: MakeWorld) -> None:
    world = make_world()
    done = keep(world)
    world.until(lambda: len(done) == 1)
    world.until_ended(world.load())
    world.settings.put(WorkerSettings(cache_disk_mib=0))
    done = keep(world)
    world.until(lambda: len(done) == 1)
    assert world.received("save_caches") == []


def test_a_death_meanwhile_is_an_end_and_no_notice(make_world: MakeWorld) -> None:
    world = loaded(make_world, save_caches={"after": 0, "signal": "SIGSEGV"})
    done = keep(world)
    world.until(lambda: len(done) == 1)
    assert [notice for notice in world.notices if notice.key == "worker"] == []


def test_a_load_ends_it(make_world: MakeWorld) -> None:
    world = loaded(make_world, save_caches=ENDLESS)
    done = keep(world)
    world.until(lambda: len(world.received("save_caches")) == 1)
    world.until_ended(world.load())
    assert len(done) == 1
