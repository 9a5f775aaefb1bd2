"""A benchmark: what is asked for, and what came out. Reports are kept as JSON, so fields are only ever added."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from engine.protocol.bench import BenchSample, BenchTest
from engine.protocol.types import DeviceKind, LoadOptions


class Protocol(StrEnum):
    """What is measured."""

    DECODE512 = "decode512"
    """A prompt of one token, then 512 generated, the likeliest each time: the protocol of MLC's post of 2023-08-09."""
    LLAMA_BENCH = "llama-bench"
    """512 tokens read, 128 generated, at some depths: llama-bench's own defaults."""


class Race(StrEnum):
    """What the variants differ in."""

    NONE = "none"
    DEVICES = "devices"
    FLASH_ATTENTION = "flash-attention"
    MICRO_BATCH = "micro-batch"
    GUESSES = "guesses"
    """Without guesses, with n-gram lookup, and with the draft model that the options name."""


NEEDED = {Race.MICRO_BATCH: Protocol.LLAMA_BENCH, Race.GUESSES: Protocol.DECODE512}
"""Races that only one protocol can decide."""


class Variant(msgspec.Struct, frozen=True, kw_only=True):
    """One way to load the model. ``label`` tells it from the others."""

    label: str
    options: LoadOptions


class LeftOut(msgspec.Struct, frozen=True):
    """A test that is not made, and a sentence that says why."""

    test: BenchTest
    reason: str


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark to be made. Several variants run in turns, each turn with a load of its own."""

    path: str
    protocol: Protocol
    race: Race = Race.NONE
    variants: tuple[Variant, ...]
    tests: tuple[BenchTest, ...]
    runs: int = 3
    left_out: tuple[LeftOut, ...] = ()


class Spread(msgspec.Struct, frozen=True):
    """Some values of one quantity: the median, the lowest and the highest."""

    median: float
    low: float
    high: float


def spread(values: Iterable[float | None]) -> Spread | None:
    """`Spread` of the values that are known; None when none is."""
    known = [value for value in values if value is not None]
    return Spread(statistics.median(known), min(known), max(known)) if known else None


class Roofline(msgspec.Struct, frozen=True, kw_only=True):
    """What the memory allows.

    Attributes:
        n_bytes: Read for each token, on average over the test: weights (of experts those in use) and KV cache.
        tps: Tokens a second if nothing but reading took time; None where a bandwidth is not known.
        bandwidth: Bytes a second of the device that holds most; None unknown.
        source: Where that figure comes from, in words.
    """

    n_bytes: int
    tps: float | None = None
    bandwidth: float | None = None
    source: str = ""


class Guesses(msgspec.Struct, frozen=True):
    """Tokens that were guessed ahead, and those of them that were right."""

    drafted: int
    accepted: int

    @property
    def rate(self) -> float:
        """Share of right ones, 0..1."""
        return self.accepted / self.drafted


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """All runs of one test with one variant."""

    test: BenchTest
    samples: tuple[BenchSample, ...] = ()
    roofline: Roofline | None = None

    @property
    def prefill(self) -> Spread | None:
        """Tokens a second while the prompt was read."""
        return spread(_rate(self.test.prompt, sample.prompt_s) for sample in self.samples)

    @property
    def decode(self) -> Spread | None:
        """Tokens a second while tokens were generated."""
        return spread(_rate(self.tokens(sample), sample.generated_s) for sample in self.samples)

    @property
    def stopped(self) -> bool:
        """No run got to its end: the figure is of a part of one."""
        return any(sample.generated is not None for sample in self.samples)

    def tokens(self, sample: BenchSample) -> int:
        """Tokens that ``sample`` generated."""
        return self.test.generated if sample.generated is None else sample.generated

    @property
    def guesses(self) -> Guesses | None:
        """Of all runs; None where nothing was guessed."""
        drafted = sum(sample.drafted for sample in self.samples)
        return Guesses(drafted, sum(sample.accepted for sample in self.samples)) if drafted else None

    @property
    def power(self) -> Spread | None:
        """Watts while tokens were generated."""
        return spread(sample.power_w for sample in self.samples)

    @property
    def tokens_per_joule(self) -> float | None:
        """Tokens generated for each joule that the card took."""
        decode, power = self.decode, self.power
        return decode.median / power.median if decode and power and power.median > 0 else None

    @property
    def share(self) -> float | None:
        """Decode speed over the roofline, 0..1; above 1 where caches serve what counted as memory."""
        ceiling = self.roofline.tps if self.roofline else None
        return self.decode.median / ceiling if self.decode and ceiling else None


def _rate(tokens: int, seconds: float | None) -> float | None:
    return tokens / seconds if seconds else None


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where a variant ran. ``driver`` names the driver's files with their dates."""

    name: str
    backend: str
    kind: DeviceKind
    pci: str | None = None
    driver: str = ""


class VariantResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one variant gave. ``error`` is a sentence when it dropped out; its runs before that are kept."""

    label: str
    options: LoadOptions
    place: Place | None = None
    flash_attention: bool | None = None
    gpu_layers: int = 0
    tests: tuple[Outcome, ...] = ()
    error: str = ""

    @property
    def main(self) -> Outcome | None:
        """The test whose decode speed speaks for all: the one with the least depth."""
        return min((test for test in self.tests if test.decode), key=lambda test: test.test.depth, default=None)

    @property
    def reading(self) -> Outcome | None:
        """The same for prompts, where more than one token was read."""
        wanted = (test for test in self.tests if test.prefill and test.test.prompt > 1)
        return min(wanted, key=lambda test: test.test.depth, default=None)


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """The model."""

    path: str
    name: str
    quant: str = ""
    architecture: str = ""
    size_bytes: int = 0
    n_params: int = 0


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark.

    Attributes:
        taken: Seconds since 1970 when it ended.
        engine: Version of the bindings.
        build: llama.cpp's version and what it was built with.
        finished: False when it was cancelled or broke off; what was measured until then is there.
    """

    version: int = 1
    taken: float
    model: Subject
    protocol: Protocol
    race: Race = Race.NONE
    runs: int
    engine: str = ""
    build: str = ""
    variants: tuple[VariantResult, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    finished: bool = True

    @property
    def measured(self) -> tuple[VariantResult, ...]:
        """Variants with at least one figure."""
        return tuple(variant for variant in self.variants if any(test.samples for test in variant.tests))


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """One published figure. Speeds are tokens a second; None where none was given.

    Attributes:
        match: Regular expression for the device's name.
        test: What was measured: ``pp512, tg128``, or ``1+512`` (a prompt of one token, 512 generated).
    """

    card: str
    match: str
    model: str
    quant: str
    backend: str
    test: str
    source: str
    conditions: str = ""
    prefill: float | None = None
    decode: float | None = None
