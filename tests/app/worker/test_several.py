"""Several answers at once: each has its own events, cancel, end and watchdog; with a scripted worker."""

from __future__ import annotations

import os
import signal

import pytest

from app.worker.pump import TURN
from app.worker.standstill import NOTICE as STILL
from app.worker.standstill import ROOM
from engine.client.session import WorkerState
from engine.protocol.frames import Finished
from engine.protocol.types import FinishReason, LoadOptions
from tests.app.worker.conftest import OTHER, Answer, Bench
from tests.app.worker.test_standstill import Hand, still

LONG = "word " * 100_000
TWO = LoadOptions(n_parallel=2)
SLOW = {"text": LONG, "delay": 0.002}


def loaded(make_bench, n_parallel: int = 2, **script: object) -> Bench:
    bench: Bench = make_bench(**script)
    bench.until_ended(bench.load(options=LoadOptions(n_parallel=n_parallel)))
    return bench


def goes_on(bench: Bench, answer: Answer) -> None:
    """Something new of ``answer`` has come."""
    seen = len(answer.deltas)
    bench.until(lambda: len(answer.deltas) > seen)


def both_write(bench: Bench, *answers: Answer) -> None:
    bench.until(lambda: all(len(answer.deltas) > 2 for answer in answers))


def reason(answer: Answer) -> FinishReason:
    assert isinstance(answer.end, Finished)
    return answer.end.reason


def test_two_answers_are_written_at_once_and_each_ends_by_itself(make_bench) -> None:
    bench = loaded(make_bench, generate=[SLOW, {"text": "one two three"}])
    first = bench.ask()
    bench.until(lambda: bool(first.deltas))
    second = bench.ask()
    bench.until_ended(second)
    assert (second.text, reason(second)) == ("one two three", FinishReason.STOP)
    assert (first.ends, bench.service.state) == ([], WorkerState.GENERATING)
    goes_on(bench, first)
    bench.service.cancel(first.id)
    bench.until_ended(first)
    assert set(first.text.split()) == {"word"}
    assert bench.service.idle


def test_a_cancel_ends_the_right_one(make_bench) -> None:
    bench = loaded(make_bench, generate=SLOW)
    answers = [bench.ask(), bench.ask()]
    both_write(bench, *answers)
    bench.service.cancel(answers[1].id)
    bench.until_ended(answers[1])
    assert reason(answers[1]) is FinishReason.CANCELLED
    goes_on(bench, answers[0])
    assert answers[0].ends == []


def test_what_finds_no_seat_waits_in_order_and_is_told_once(make_bench) -> None:
    bench = loaded(make_bench, generate=[SLOW, SLOW, {"text": "three"}, {"text": "four"}])
    running = [bench.ask(), bench.ask()]
    both_write(bench, *running)
    third, fourth = bench.ask(), bench.ask()
    bench.until(lambda: bool(fourth.progress))
    assert [progress.stage for progress in third.progress] == [TURN]
    assert len(bench.received("generate")) == 2
    bench.service.cancel(running[0].id)
    bench.until_ended(third, fourth)
    assert (third.text, fourth.text, running[1].ends) == ("three", "four", [])
    assert [len(answer.progress) for answer in (third, fourth)] == [1, 1]


def test_a_model_that_was_loaded_for_one_writes_one(make_bench) -> None:
    bench = loaded(make_bench, 1, generate=[SLOW, {"text": "next"}])
    first, second = bench.ask(), bench.ask()
    bench.until(lambda: bool(first.deltas) and bool(second.progress))
    assert (second.deltas, bench.service._pump.seats) == ([], 1)
    bench.service.cancel(second.id)
    bench.until_ended(second)
    assert (reason(second), first.ends) == (FinishReason.CANCELLED, [])
    assert len(bench.received("generate")) == 1


def test_a_load_ends_all_of_them_and_their_words_stay(make_bench) -> None:
    bench = loaded(make_bench, generate=SLOW)
    answers = [bench.ask(), bench.ask()]
    both_write(bench, *answers)
    load = bench.load(OTHER, TWO)
    bench.until_ended(load, *answers)
    assert [reason(answer) for answer in answers] == [FinishReason.CANCELLED] * 2
    assert all(answer.text.startswith("word word") for answer in answers)
    assert bench.service.model is not None
    assert bench.service.model.path == str(OTHER)


def test_a_death_ends_each_with_its_words_and_one_notice_tells_it(make_bench) -> None:
    bench = loaded(make_bench, generate=SLOW)
    answers = [bench.ask(), bench.ask()]
    both_write(bench, *answers)
    assert bench.service.pid is not None
    os.kill(bench.service.pid, signal.SIGSEGV)
    bench.until_ended(*answers)
    assert [answer.failure for answer in answers] == [bench.deaths[0].code] * 2
    assert all(answer.text.startswith("word word") for answer in answers)
    assert (len(bench.deaths), len([notice for notice in bench.notices if notice.key == "worker"])) == (1, 1)
    assert bench.service.idle


def test_after_a_death_the_next_ones_load_once_and_run_together(make_bench) -> None:
    bench = loaded(
        make_bench, runs=[{"generate": {"text": "a b", "after": 1, "signal": "SIGSEGV"}}, {"generate": SLOW}]
    )
    bench.until_ended(bench.ask())
    answers = [bench.ask(), bench.ask()]
    both_write(bench, *answers)
    assert (len(bench.received("load")), bench.starts()) == (2, 2)


def test_an_answer_whose_cancel_is_ignored_takes_the_others_with_it_and_the_model_comes_back(
    make_bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.client.session.CANCEL_SECONDS", 0.3)
    bench = loaded(make_bench, runs=[{"ignore_cancel": True, "generate": SLOW}, {}])
    answers = [bench.ask(), bench.ask()]
    both_write(bench, *answers)
    bench.service.cancel(answers[0].id)
    bench.until_ended(*answers)
    assert [answer.failure for answer in answers] == ["cancelled", bench.deaths[0].code]
    assert answers[1].text.startswith("word word")
    bench.until(lambda: bench.starts() == 2 and bench.service.state is WorkerState.READY)


def test_one_that_stands_still_is_told_while_the_other_goes_on(make_bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.client.watchdog.PATIENCE", 1.1)  # alone it would be ended after 66 seconds
    bench = loaded(make_bench, generate=[SLOW, {"text": "a b c", "after": 2, "silence": True}])
    hand = Hand(bench)
    moving, stuck = bench.ask(), bench.ask()
    bench.until(lambda: len(stuck.deltas) == 2)
    for _ in range(80):
        goes_on(bench, moving)
        hand.turn(1)
    assert still(bench)[0] == "One of the answers has not moved for a minute."
    assert (len(still(bench)), bench.deaths, stuck.ends) == (1, [], [])
    bench.service.cancel(moving.id)
    bench.until_ended(moving)
    assert STILL not in bench.withdrawn


def test_both_that_stand_still_are_one_line_and_then_the_end(make_bench) -> None:
    bench = loaded(make_bench, generate={"text": "a b c", "after": 2, "silence": True})
    hand = Hand(bench)
    answers = [bench.ask(), bench.ask()]
    bench.until(lambda: all(len(answer.deltas) == 2 for answer in answers))
    hand.turn(60)
    assert still(bench) == ["2 answers have not moved for a minute."]
    hand.turn(239)
    assert bench.deaths == []
    hand.turn(1)
    bench.until_ended(*answers)
    assert [answer.failure for answer in answers] == ["hang", "hang"]
    assert [answer.text for answer in answers] == ["a b ", "a b "]


def test_one_that_waits_for_room_is_not_still_while_the_other_writes(make_bench) -> None:
    bench = loaded(make_bench, generate=[SLOW, {"stages": [ROOM], "text": "a", "after": 0, "silence": True}])
    hand = Hand(bench)
    moving, waiting = bench.ask(), bench.ask()
    bench.until(lambda: bool(waiting.progress))
    for _ in range(70):
        goes_on(bench, moving)
        hand.turn(1)
    assert still(bench) == []


def test_the_speed_is_that_of_all_together(make_bench) -> None:
    bench = loaded(make_bench, generate=SLOW)
    first = bench.ask()
    bench.until(lambda: bool(first.deltas))
    assert bench.speeds[-1] == 20.0
    second = bench.ask()
    bench.until(lambda: bench.speeds[-1] == 40.0)
    bench.service.cancel(first.id)
    bench.until_ended(first)
    assert (bench.speeds[-1], second.ends) == (20.0, [])


def test_what_is_said_is_told_for_each(make_bench) -> None:
    bench = loaded(make_bench, generate=[{"text": "one two"}, {"text": "three four"}])
    told: list[tuple[int, str]] = []
    bench.service.answered.connect(lambda answered: told.append((answered.request.id, answered.text)))
    answers = [bench.ask(), bench.ask()]
    bench.until_ended(*answers)
    assert sorted(told) == [(answers[0].id, "one two"), (answers[1].id, "three four")]


def test_a_self_test_waits_for_all_and_newcomers_for_it(make_bench) -> None:
    bench = loaded(make_bench, generate=[SLOW, SLOW, {"text": "last"}])
    answers = [bench.ask(), bench.ask()]
    both_write(bench, *answers)
    tested: list[object] = []
    bench.service.self_test(tested.append)
    bench.service.cancel(answers[0].id)
    bench.until_ended(answers[0])
    third = bench.ask()
    bench.until(lambda: bool(third.progress))
    assert (tested, third.deltas) == ([], [])
    bench.service.cancel(answers[1].id)
    bench.until_ended(third)
    assert len(tested) == 1


def test_shutting_down_ends_each_once(make_bench) -> None:
    bench = loaded(make_bench, generate=SLOW)
    answers = [bench.ask(), bench.ask(), bench.ask()]
    both_write(bench, *answers[:2])
    bench.service.stop()
    bench.until_ended(*answers)
    assert [answer.failure for answer in answers] == ["stopped"] * 3
