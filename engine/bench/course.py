"""The course of a benchmark, without input or output: what is asked of the worker next, and what its answers mean.

One variant is loaded once and each test made several times. Variants of a race take turns (A B A B ...), each with a
load of its own, so that a card that grows warm, or another program, disturbs all of them alike.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine.bench.live_rate import LiveRate
from engine.bench.progress import Estimate, Step
from engine.bench.protocols import for_tests
from engine.bench.records import LeftOut, Order, Outcome, Place, VariantResult
from engine.protocol.bench import BenchSample, BenchTest
from engine.protocol.frames import Bench, Benched, Failed, Load, Loaded, Progress, Request, Terminal
from engine.protocol.types import ModelInfo

MEMORY_CODES = frozenset({"out-of-memory", "context-memory", "context-failed"})
"""Failures of a load that a shorter context may avoid."""

CANCELLED = frozenset({"cancelled", "stopped"})


@dataclass
class _Lane:
    """What is known of one variant."""

    samples: dict[BenchTest, list[BenchSample]] = field(default_factory=dict)
    info: ModelInfo | None = None
    driver: str = ""
    error: str = ""
    loaded: bool = False
    begun: bool = False


class Course:
    """Ask `next` for a request, hand every event of it to `take`, until `next` gives None.

    Attributes:
        ram: Bytes a second of the RAM, once measured.
        cancelled: It ended before its end.
    """

    def __init__(self, order: Order, clock: Callable[[], float] = time.monotonic) -> None:
        self.order = order
        self.ram: float | None = None
        self.cancelled = False
        self._tests = list(order.tests)
        self._left = list(order.left_out)
        self._lanes = [_Lane() for _ in order.variants]
        self._estimate = Estimate(self._all_steps(), clock)
        self._plan = self._steps()
        self._step: Step | None = None
        self._clock = clock
        self._rate = LiveRate(None, clock)

    @property
    def step(self) -> Step | None:
        """What the worker is at."""
        return self._step

    @property
    def fraction(self) -> float:
        """How much of the work is done, 0..1."""
        return self._estimate.fraction

    @property
    def seconds_left(self) -> float | None:
        """Time that it will still take; None before anything can be said."""
        return self._estimate.seconds_left

    @property
    def live_tps(self) -> float | None:
        """Tokens a second of the run that the worker is at; None before anything can be said."""
        return self._rate.tps

    @property
    def model(self) -> ModelInfo | None:
        """The model, once it was loaded."""
        return next((lane.info for lane in self._lanes if lane.info is not None), None)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Tests that are not made."""
        return tuple(self._left)

    @property
    def first_error(self) -> str:
        """Why nothing could be measured, or ""."""
        return next((lane.error for lane in self._lanes if lane.error), "")

    def next(self, id_: int) -> Request | None:
        """The next request; None: the benchmark is over."""
        self._step = None if self.cancelled else next(self._plan, None)
        step = self._step
        self._rate = LiveRate(step.test if step is not None else None, self._clock)
        if step is None:
            return None
        self._estimate.begin(step)
        if step.variant is None:
            return Bench(id=id_)
        if step.test is None:
            options = for_tests(self.order.variants[step.variant].options, max(test.context for test in self._tests))
            return Load(id=id_, path=self.order.path, options=options)
        lane = self._lanes[step.variant]
        begun, lane.begun = lane.begun, True
        return Bench(id=id_, test=step.test, warm=step.number > 0, begun=begun)

    def take(self, event: Progress | Terminal) -> None:
        """An event of the request that `next` gave."""
        step = self._step
        if step is None:
            return
        if isinstance(event, Progress):
            self._estimate.progress(event.done, event.total)
            self._rate.progress(event.done, event.total)
            return
        self._estimate.end(step)
        if isinstance(event, Failed):
            self._failed(step, event)
        elif isinstance(event, Loaded) and step.variant is not None:
            lane = self._lanes[step.variant]
            lane.info, lane.loaded, lane.begun = event.model, True, False
        elif isinstance(event, Benched):
            self._measured(step, event)

    def cancel(self) -> None:
        """Nothing more is asked. What a run gave until now counts where its test has no whole run."""
        step, sample = self._step, self._rate.sample
        if not self.cancelled and sample is not None and step is not None and step.variant is not None and step.test:
            self._lanes[step.variant].samples.setdefault(step.test, [sample])
        self.cancelled = True

    def results(self) -> tuple[VariantResult, ...]:
        """What was measured so far, by variant, without rooflines."""
        return tuple(self._result(index) for index in range(len(self._lanes)))

    def _measured(self, step: Step, event: Benched) -> None:
        if step.variant is None or step.test is None:
            self.ram = event.ram
            return
        lane = self._lanes[step.variant]
        lane.driver = event.driver or lane.driver
        whole = [sample for sample in lane.samples.get(step.test, ()) if sample.generated is None]
        lane.samples[step.test] = [*whole, event.sample]

    def _failed(self, step: Step, event: Failed) -> None:
        if event.code in CANCELLED:
            self.cancel()
        elif step.variant is not None and not (step.test is None and self._drop_deepest(event)):
            self._lanes[step.variant].error = f"{event.message} {event.next_step}".strip()

    def _drop_deepest(self, event: Failed) -> bool:
        """Do without the tests that need the longest context, if that may help."""
        deepest = max(test.depth for test in self._tests)
        if event.code not in MEMORY_CODES or not deepest:
            return False
        self._left += [LeftOut(test, event.message) for test in self._tests if test.depth == deepest]
        self._tests = [test for test in self._tests if test.depth < deepest]
        for lane in self._lanes:
            lane.samples = {test: found for test, found in lane.samples.items() if test in self._tests}
        return True

    def _all_steps(self) -> list[Step]:
        """The steps if nothing goes wrong, for the estimate."""
        steps = [Step()]
        racing = len(self.order.variants) > 1
        for turn in range(self.order.runs if racing else 1):
            for index in range(len(self.order.variants)):
                steps.append(Step(index))
                for test in self._tests:
                    steps += [Step(index, test, no) for no in range(1 if racing else self.order.runs)]
                    if racing:
                        steps[-1] = Step(index, test, 0, turn)
        return steps

    def _steps(self) -> Iterator[Step]:
        """The steps, by what happened so far."""
        yield Step()
        racing = len(self._lanes) > 1
        for turn in range(self.order.runs if racing else 1):
            for index, lane in enumerate(self._lanes):
                lane.loaded = False
                while not (lane.error or lane.loaded):
                    yield Step(index)
                for test in tuple(self._tests):
                    for number in range(1 if racing else self.order.runs):
                        if not lane.error:
                            yield Step(index, test, number, turn if racing else number)

    def _result(self, index: int) -> VariantResult:
        lane, variant = self._lanes[index], self.order.variants[index]
        info, place = lane.info, None
        if info is not None:
            device = info.device
            names = " + ".join(dict.fromkeys(device.name for device in info.devices)) or device.name
            place = Place(name=names, backend=device.backend, kind=device.kind, pci=device.pci, driver=lane.driver)
        return VariantResult(
            label=variant.label,
            options=variant.options,
            place=place,
            flash_attention=info.flash_attention if info else None,
            gpu_layers=info.gpu_layers if info else 0,
            tests=tuple(
                Outcome(test=test, samples=tuple(lane.samples[test])) for test in self._tests if test in lane.samples
            ),
            error=lane.error,
        )
