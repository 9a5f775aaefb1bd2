"""The watchdog with a clock that is turned by hand: loads, prompts, answers, sleeping computers."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.client.watchdog import MARGIN, PATIENCE, Limits, Standing, Watchdog, assumed_step
from engine.protocol.frames import Delta, Finished, Generate, Load, Progress
from engine.protocol.types import FinishReason, GenerationStats, ModelInfo
from tests.engine.client.peer import MODEL
from tests.fakes.fake_worker import GPU

LOAD = Load(id=1, path="/m.gguf")
ASK = Generate(id=2, messages=())
LIMITS = Limits(load=60.0, answer=40.0)
SMALL = msgspec.structs.replace(MODEL, n_params=135_000_000, size_bytes=98_000_000, device=GPU, gpu_layers=1)
BIG_ON_CPU = msgspec.structs.replace(MODEL, n_params=70_000_000_000, size_bytes=40_000_000_000)


class Story:
    """A watchdog and its time, looked at four times a second."""

    def __init__(self, limits: Limits = LIMITS, model: ModelInfo | None = SMALL, n_batch: int = 512) -> None:
        self.now = 500.0
        self.dog = Watchdog()
        self._limits, self._model, self._n_batch = limits, model, n_batch

    def begin(self, request: Load | Generate) -> Story:
        model = None if isinstance(request, Load) else self._model
        self.dog.begin(request, model, self._n_batch, self._limits, self.now)
        return self

    def wait(self, seconds: float) -> Standing:
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + 0.25, end)
            standing = self.dog.look(self.now)
        return standing

    def hear(self, event: Progress | Delta | Finished) -> None:
        self.dog.heard(event, self.now)


def finished(prefill_tps: float) -> Finished:
    return Finished(id=2, reason=FinishReason.STOP, stats=GenerationStats(prefill_tps=prefill_tps))


@pytest.mark.parametrize(("request_", "limit"), [(LOAD, 60.0), (ASK, 40.0)])
def test_still_after_the_limit_and_hung_after_five_times_it(request_: Load | Generate, limit: float) -> None:
    story = Story().begin(request_)
    assert story.wait(limit - 1) is Standing.MOVING
    assert story.wait(1) is Standing.STILL
    assert story.dog.quiet == limit
    assert story.wait(limit * (PATIENCE - 1) - 1) is Standing.STILL
    assert story.wait(1) is Standing.HUNG


def test_a_slow_card_that_moves_is_never_still() -> None:
    """40 GB from an SD card at 20 MB/s: a part of a thousand each two seconds, sometimes one after a minute."""
    story = Story().begin(LOAD)
    for part in range(1, 1000, 50):
        assert story.wait(59) is Standing.MOVING
        story.hear(Progress(id=1, stage="load", done=part, total=1000))


def test_reading_without_a_word_is_movement() -> None:
    story = Story().begin(LOAD)
    for _ in range(20):
        assert story.wait(50) is Standing.MOVING
        story.dog.stirred()
    assert story.wait(60) is Standing.STILL


def test_movement_after_a_standstill_begins_anew() -> None:
    story = Story().begin(ASK)
    assert story.wait(100) is Standing.STILL
    story.hear(Delta(id=2, text="x", tokens=1, tps=1.0))
    assert story.wait(39) is Standing.MOVING


def test_a_sleeping_computer_is_not_charged() -> None:
    story = Story().begin(ASK)
    story.wait(30)
    story.now += 8 * 3600
    assert story.dog.look(story.now) is Standing.MOVING
    story.now -= 3600
    assert story.dog.look(story.now) is Standing.MOVING
    assert story.wait(10) is Standing.STILL


def test_zero_is_never() -> None:
    for request in (LOAD, ASK):
        assert Story(Limits(load=0, answer=0)).begin(request).wait(5000) is Standing.MOVING


def test_a_big_model_on_a_slow_cpu_may_read_its_first_prompt_slowly() -> None:
    """One slice of 512 tokens at 1 token a second is legitimate, and takes longer than any fixed limit."""
    story = Story(model=BIG_ON_CPU).begin(ASK)
    assert story.wait(512) is Standing.MOVING
    story.hear(Progress(id=2, stage="prompt", done=512, total=4000))
    assert story.wait(512) is Standing.MOVING


def test_the_measured_speed_takes_the_place_of_the_assumed_one() -> None:
    story = Story(model=BIG_ON_CPU).begin(ASK)
    assert story.dog.limit == MARGIN * assumed_step(BIG_ON_CPU, 512)
    story.hear(finished(prefill_tps=8.0))
    assert story.begin(ASK).dog.limit == MARGIN * 64
    story.hear(finished(prefill_tps=500.0))
    assert story.begin(ASK).dog.limit == 40.0
    story.hear(finished(prefill_tps=0.0))
    assert story.begin(ASK).dog.limit == 40.0, "nothing was computed, so nothing was measured"


@pytest.mark.parametrize(("model", "limit"), [(SMALL, 20.0), (BIG_ON_CPU, MARGIN * assumed_step(BIG_ON_CPU, 512))])
def test_a_doubtful_device_gets_less_time_but_never_less_than_it_needs(model: ModelInfo, limit: float) -> None:
    story = Story(model=model).begin(ASK)
    story.dog.hurry(20)
    assert story.dog.limit == limit
    story.dog.hurry(1000)
    assert story.dog.limit == limit
    never = Story(Limits(load=0, answer=0), model=model).begin(ASK)
    never.dog.hurry(20)
    assert never.dog.limit == 0
    assert story.begin(ASK).dog.limit >= 40, "of that request only"


def test_another_model_is_not_judged_by_the_speed_of_the_last_one() -> None:
    story = Story(model=SMALL).begin(ASK)
    story.hear(finished(prefill_tps=9000.0))
    story.dog.begin(ASK, BIG_ON_CPU, 512, LIMITS, story.now)
    assert story.dog.limit == MARGIN * assumed_step(BIG_ON_CPU, 512)


def test_part_of_a_model_on_the_cpu_is_as_slow_as_the_cpu() -> None:
    on_gpu = msgspec.structs.replace(BIG_ON_CPU, device=GPU, n_layers=80, gpu_layers=80)
    partly = msgspec.structs.replace(on_gpu, gpu_layers=40)
    assert assumed_step(partly, 512) == assumed_step(BIG_ON_CPU, 512) > 5 * assumed_step(on_gpu, 512)


@given(st.lists(st.tuples(st.integers(1, 400), st.booleans()), max_size=30))
def test_never_hung_before_five_limits_of_quiet(steps: list[tuple[int, bool]]) -> None:
    story, quiet = Story().begin(LOAD), 0
    for seconds, moves in steps:
        quiet += seconds
        assert (story.wait(seconds) is Standing.HUNG) == (quiet >= 60 * PATIENCE)
        if moves:
            story.hear(Progress(id=1, stage="load", done=1, total=2))
            quiet = 0
