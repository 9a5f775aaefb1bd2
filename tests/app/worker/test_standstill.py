"""A load or an answer that stands still: a quiet line, then the end; with a scripted worker and a hand-turned clock."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.jobs import SerialRunner
from app.worker.safe_mode import WORDS
from app.worker.settings import WorkerSettings
from app.worker.standstill import NOTICE, SHADERS, StandstillGuard, in_words
from engine.client.activity import READ_BYTES, Activity
from engine.client.session import WorkerState
from engine.protocol.frames import Finished, Generate
from engine.protocol.types import FinishReason, LoadOptions
from tests.app.worker.conftest import Bench
from tests.app.worker.test_safe_mode import MakeWorld, make_world

__all__ = ["make_world"]

STILL_LOAD = {"load": {"after": 2, "silence": True}}
STILL_ANSWER = {"generate": {"text": "a b c d", "after": 2, "silence": True}}


class Hand:
    """Turns the clock of a guard, a second at a time."""

    def __init__(self, bench: Bench) -> None:
        self.now = 1000.0
        self.guard: StandstillGuard = bench.service._guard
        self.guard.clock = lambda: self.now
        self.guard._timer.timeout.disconnect(self.guard.look)

    def turn(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += 1.0
            self.guard.look()


class Loop:
    """Runs jobs when the event loop comes round, like a thread would."""

    def submit(self, work: Callable[[], None]) -> None:
        work()

    def close(self) -> None:
        pass


def still(bench: Bench) -> list[str]:
    return [notice.text for notice in bench.notices if notice.key == NOTICE]


def halfway(bench: Bench) -> Hand:
    """A load that got no further than its second step."""
    hand = Hand(bench)
    bench.load()
    bench.until(lambda: len(bench.progress) == 2)
    return hand


def test_a_load_that_stands_still_is_told_once_and_can_be_cancelled(make_bench, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)
    bench = make_bench(runs=[STILL_LOAD, {}])
    hand = halfway(bench)
    hand.turn(59)
    assert still(bench) == []
    hand.turn(20)
    assert still(bench) == ["The model has not moved for a minute."]
    (cancel,) = bench.notices[-1].actions
    assert cancel.label == "Cancel"
    cancel.run()
    bench.until_state(WorkerState.IDLE)
    assert NOTICE in bench.withdrawn
    assert bench.starts() == 2


@pytest.mark.parametrize(("device", "hint"), [(None, SHADERS), ("cpu", "")])
def test_what_the_driver_may_be_doing_when_all_is_read(make_bench, device: str | None, hint: str) -> None:
    bench = make_bench(load={"steps": 3, "after": 3, "silence": True})
    hand = Hand(bench)
    bench.load(options=LoadOptions(device=device))
    bench.until(lambda: len(bench.progress) == 3)
    hand.turn(60)
    assert still(bench) == ["The model has not moved for a minute." + hint]


def test_a_load_that_hangs_is_ended_with_safer_settings_at_hand(make_world: MakeWorld) -> None:
    world = make_world(runs=[STILL_LOAD, {}])
    hand = Hand(world)
    load = world.load()
    world.until(lambda: len(world.progress) == 2)
    hand.turn(60)
    assert [action.label for action in world.notices[-1].actions] == ["Cancel", WORDS]
    hand.turn(239)
    assert world.deaths == []
    hand.turn(1)
    world.until_ended(load)
    assert (load.failure, [death.code for death in world.deaths]) == ("hang", ["hang"])
    assert "stood still" in world.notices[-1].text
    world.press()
    world.until_notice("tiny is loaded with safer settings")
    assert world.loads("n_ubatch") == [(512,), (128,)]


def test_safer_settings_from_the_quiet_line_end_what_stands_still(make_world: MakeWorld, monkeypatch) -> None:
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)
    world = make_world(runs=[{"load": [{}]} | STILL_ANSWER, {}])
    hand = Hand(world)
    world.until_ended(world.load())
    answer = world.ask()
    world.until(lambda: len(answer.deltas) == 2)
    hand.turn(60)
    assert world.notices[-1].text == "The answer has not moved for a minute."
    world.notices[-1].actions[1].run()
    world.until_notice("tiny is loaded with safer settings")
    assert answer.text == "a b "
    assert world.loads("n_ubatch")[-1] == (128,)


def test_an_answer_that_hangs_keeps_its_text_and_the_next_message_is_answered(make_bench) -> None:
    bench = make_bench(runs=[STILL_ANSWER, {}])
    bench.load()
    hand = Hand(bench)
    answer = bench.ask()
    bench.until(lambda: len(answer.deltas) == 2)
    hand.turn(300)
    bench.until_ended(answer)
    assert (answer.text, answer.failure) == ("a b ", "hang")
    again = bench.ask("still there")
    bench.until_ended(again)
    assert again.text == "still there"


def test_movement_takes_the_line_away(make_bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    bench = make_bench(load={"steps": 3, "gate": str(gate), "gate_after": 1})
    hand = Hand(bench)
    load = bench.load()
    bench.until(lambda: len(bench.progress) == 1)
    hand.turn(60)
    assert len(still(bench)) == 1
    gate.touch()
    bench.until_ended(load)
    assert NOTICE in bench.withdrawn
    hand.turn(600)
    assert (len(still(bench)), bench.deaths) == (1, [])


def test_waiting_for_a_message_is_no_standstill(make_bench) -> None:
    bench = make_bench()
    bench.until_ended(bench.load(), bench.ask())
    Hand(bench).turn(2000)
    assert (bench.notices, bench.deaths) == ([], [])


def test_a_worker_that_is_still_starting_is_not_charged(make_bench) -> None:
    bench = make_bench(hello_delay=1.0, **STILL_LOAD)
    hand = Hand(bench)
    bench.load()
    bench.until(lambda: hand.guard._timer.isActive())
    hand.turn(200)
    bench.until(lambda: len(bench.progress) == 2)
    hand.turn(59)
    assert still(bench) == []
    hand.turn(1)
    assert len(still(bench)) == 1


def test_a_suspended_computer_charges_nothing(make_bench) -> None:
    bench = make_bench(**STILL_LOAD)
    hand = halfway(bench)
    hand.turn(30)
    hand.now += 8 * 3600
    hand.turn(20)
    assert still(bench) == []


@pytest.mark.parametrize(("seconds", "told"), [(20, 20), (1, 10)])
def test_settings_say_how_long(make_world: MakeWorld, seconds: int, told: int) -> None:
    world = make_world(**STILL_LOAD)
    world.settings.put(WorkerSettings(load_timeout_s=seconds))
    hand = halfway(world)
    hand.turn(told - 1)
    assert still(world) == []
    hand.turn(1)
    assert still(world) == [f"The model has not moved for {told} seconds."]


def test_never_is_never(make_world: MakeWorld) -> None:
    world = make_world(**STILL_LOAD)
    world.settings.put(WorkerSettings(load_timeout_s=0))
    halfway(world).turn(3000)
    assert (world.notices, world.deaths) == ([], [])


@pytest.mark.parametrize(("each_look", "told"), [(READ_BYTES, False), (4096, True)])
def test_a_process_that_reads_from_a_slow_card_moves(make_bench, each_look: int, told: bool) -> None:
    bench = make_bench(**STILL_LOAD)
    hand = halfway(bench)
    reads: list[int] = []

    def activity(pid: int) -> Activity:
        assert pid == bench.service.pid
        reads.append(pid)
        return Activity(read=len(reads) * each_look, faults=0, state="D")

    hand.guard._runner, hand.guard._activity = SerialRunner(Loop(), hand.guard), activity
    for _ in range(40):
        seen = len(reads)
        hand.turn(2)
        if len(reads) > seen:
            bench.qtbot.wait(1)
    assert reads
    assert bool(still(bench)) is told


def test_a_quiet_look_is_cancelled_by_a_message(make_bench) -> None:
    bench = make_bench(generate=[{"text": "x " * 20_000, "delay": 0.01}, {}])
    bench.until_ended(bench.load())
    ends: list[Any] = []
    bench.service.look(Generate(id=0, messages=(), max_tokens=400), ends.append)
    bench.until(lambda: len(bench.received("generate")) == 1)
    assert bench.service.state is WorkerState.READY
    answer = bench.ask("at once")
    bench.until_ended(answer)
    assert answer.text == "at once"
    (end,) = ends
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.CANCELLED
    assert WorkerState.GENERATING in bench.states
    assert bench.speeds == [20.0], "of the answer alone"


def test_quiet_looks_wait_for_messages_and_load_nothing(make_bench) -> None:
    bench = make_bench(generate={"delay": 0.01})
    load, first = bench.load(), bench.ask("one two three")
    ends: list[Any] = []
    bench.service.look(Generate(id=0, messages=(), max_tokens=4), ends.append)
    second = bench.ask("four five six")
    bench.until(lambda: bool(ends))
    assert (first.text, second.text) == ("one two three", "four five six")
    assert load.ends
    assert [frame["max_tokens"] for frame in bench.received("generate")] == [None, None, 4]
    bench.service.unload()
    bench.until_state(WorkerState.STOPPED)
    bench.service.look(Generate(id=0, messages=(), max_tokens=4), ends.append)
    bench.until(lambda: len(ends) == 2)
    assert ends[1].code == "no-model"
    assert bench.service.state is WorkerState.STOPPED


@pytest.mark.parametrize(
    ("seconds", "words"), [(20, "20 seconds"), (59, "59 seconds"), (60, "a minute"), (300, "5 minutes")]
)
def test_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words
