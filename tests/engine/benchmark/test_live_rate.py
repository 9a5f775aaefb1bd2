"""The speed of a run that goes on, and what is left of one that was stopped."""

from __future__ import annotations

import pytest

from engine.bench.change import change
from engine.bench.course import Course
from engine.bench.live_rate import LiveRate
from engine.bench.records import Report, Subject
from engine.protocol.bench import BenchSample, BenchTest
from engine.protocol.frames import Bench, Benched, Progress
from tests.engine.benchmark.test_course import Clock, order, step

TEST = BenchTest(prompt=1, generated=100, warm_up=10)


def test_warm_up_and_prompt_are_not_counted() -> None:
    clock = Clock()
    rate = LiveRate(TEST, clock)
    for now, done in ((0.0, 5), (5.0, 11), (7.0, 12)):
        clock.now = now
        rate.progress(done, 112)
    assert rate.tps is None, "the clock starts behind the prompt"
    clock.now = 9.0
    rate.progress(52, 112)
    assert rate.tps == pytest.approx(20.0)
    assert rate.sample == BenchSample(generated=40, generated_s=2.0)


@pytest.mark.parametrize(("seconds", "tokens"), [(0.1, 50), (5.0, 3)])
def test_too_little_says_nothing(seconds: float, tokens: int) -> None:
    clock = Clock()
    rate = LiveRate(TEST, clock)
    rate.progress(1, 101)
    clock.now = seconds
    rate.progress(1 + tokens, 101)
    assert (rate.tps, rate.sample) == (None, None)


def test_reading_has_no_rate() -> None:
    clock = Clock()
    rate = LiveRate(BenchTest(prompt=512), clock)
    for done in (0, 256, 512):
        clock.now += 1
        rate.progress(done, 512)
    assert rate.tps is None


def running(course: Course, clock: Clock, runs: int) -> None:
    """Go to the middle of run ``runs`` + 1 (from 0): 128 tokens in four seconds."""
    for number in range(2 + runs):
        step(course, number + 1)
    request = course.next(99)
    assert isinstance(request, Bench)
    assert request.test is not None
    course.take(Progress(id=99, stage="bench", done=1, total=513))
    clock.now += 4
    course.take(Progress(id=99, stage="bench", done=129, total=513))


def test_a_stopped_first_run_leaves_its_speed() -> None:
    clock = Clock()
    course = Course(order("A"), clock)
    running(course, clock, 0)
    assert course.live_tps == pytest.approx(32.0)
    course.cancel()
    (outcome,) = course.results()[0].tests
    assert outcome.stopped
    assert outcome.decode is not None
    assert outcome.decode.median == pytest.approx(32.0)
    assert outcome.prefill is None


def test_whole_runs_stand_for_themselves() -> None:
    clock = Clock()
    course = Course(order("A"), clock)
    running(course, clock, 1)
    course.cancel()
    (outcome,) = course.results()[0].tests
    assert [sample.generated for sample in outcome.samples] == [None]


def test_a_run_that_ends_after_all_replaces_its_part() -> None:
    clock = Clock()
    course = Course(order("A"), clock)
    running(course, clock, 0)
    course.cancel()
    course.take(Benched(id=99, sample=BenchSample(prompt_s=0.1, generated_s=2.0)))
    (outcome,) = course.results()[0].tests
    assert outcome.samples == (BenchSample(prompt_s=0.1, generated_s=2.0),)


def test_a_part_is_compared_with_nothing() -> None:
    clock = Clock()
    whole, part = Course(order("A"), clock), Course(order("A"), clock)
    running(whole, clock, 1)
    running(part, clock, 0)
    part.cancel()
    reports = [
        Report(taken=taken, model=Subject(path="/m", name="m"), protocol=whole.order.protocol, runs=3,
               variants=course.results())
        for taken, course in ((1.0, whole), (2.0, part), (3.0, whole))
    ]  # fmt: skip
    first, stopped, last = reports
    assert change([first], stopped, stopped.variants[0], stopped.variants[0].tests[0]) is None
    found = change([first, stopped], last, last.variants[0], last.variants[0].tests[0])
    assert found is not None
    assert found.before is first
