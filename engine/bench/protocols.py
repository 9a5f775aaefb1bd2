"""The tests of each protocol, and which of them a model and a machine have room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from engine.bench.records import NEEDED, LeftOut, Protocol, Race, Variant
from engine.errors import VrambleError
from engine.memory.fit import FitDevice, FitModel, Verdict, predict
from engine.protocol.bench import BenchTest
from engine.protocol.types import LoadOptions

DEPTHS: Final = (0, 4096, 16384)

_TESTS: Final = {
    Protocol.DECODE512: (BenchTest(prompt=1, generated=512, greedy=True, warm_up=64),),
    Protocol.LLAMA_BENCH: tuple(
        BenchTest(prompt=prompt, generated=generated, depth=depth)
        for depth in DEPTHS
        for prompt, generated in ((512, 0), (0, 128))
    ),
}

NO_ROOM: Final = (Verdict.NO, Verdict.PARTLY)


def suite_of(protocol: Protocol) -> tuple[BenchTest, ...]:
    """All tests, the least depth first."""
    return _TESTS[protocol]


def check_pair(race: Race, protocol: Protocol) -> None:
    """Refuse a race that the tests of ``protocol`` say nothing about.

    Raises:
        VrambleError: ``nothing-to-compare``.
    """
    if NEEDED.get(race, protocol) is protocol:
        return
    if race is Race.GUESSES:
        raise VrambleError(
            "nothing-to-compare",
            "The tests of llama-bench take random tokens, which nobody can guess.",
            f"Choose the protocol {Protocol.DECODE512.value}.",
        )
    raise VrambleError(
        "nothing-to-compare",
        "A prompt of one token says nothing about micro-batches.",
        f"Choose the protocol {Protocol.LLAMA_BENCH.value}.",
    )


def fitting(
    protocol: Protocol, variants: Sequence[Variant], model: FitModel | None, devices: Sequence[FitDevice]
) -> tuple[tuple[BenchTest, ...], tuple[LeftOut, ...]]:
    """The tests to make, and those that the model's context or the memory has no room for.

    Tests at depth 0 are always made: there the load itself says what is wrong. What is not known leaves nothing out.
    """
    taken: list[BenchTest] = []
    left: list[LeftOut] = []
    for test in suite_of(protocol):
        reason = "" if model is None or not test.depth else _no_room(test, variants, model, devices)
        if reason:
            left.append(LeftOut(test, reason))
        else:
            taken.append(test)
    return tuple(taken), tuple(left)


def _no_room(test: BenchTest, variants: Sequence[Variant], model: FitModel, devices: Sequence[FitDevice]) -> str:
    if 0 < model.context_length < test.context:
        return f"The model was made for {model.context_length} tokens; this takes {test.context}."
    for variant in variants:
        shallow = predict(model, for_tests(variant.options, test.prompt + test.generated), devices)
        plan = predict(model, for_tests(variant.options, test.context), devices)
        if plan.verdict is Verdict.NO or (plan.verdict in NO_ROOM and shallow.verdict not in NO_ROOM):
            return plan.reason
    return ""


def for_tests(options: LoadOptions, context: int) -> LoadOptions:
    """``options`` with just the context that the tests need."""
    return msgspec.structs.replace(options, n_ctx=max(context, 16))
