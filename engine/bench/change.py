"""How a figure differs from the last one of the same kind."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.bench.records import Outcome, Report, Spread, VariantResult
from engine.protocol.types import LoadOptions


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """How a figure differs from the last one of the same kind.

    Attributes:
        before: The report with the earlier figure.
        decode: New over old decode speed, less 1; None where one is missing.
        prefill: The same for prompts.
        build: The engine's build is another.
        driver: The graphics driver is another.
    """

    before: Report
    decode: float | None
    prefill: float | None
    build: bool
    driver: bool


def change(history: Sequence[Report], report: Report, variant: VariantResult, outcome: Outcome) -> Change | None:
    """Against the newest earlier report with the same model, device, options and test; None when there is none."""
    if outcome.stopped:
        return None
    for before in reversed(history):
        if before.taken >= report.taken or not _same_model(before, report):
            continue
        for other in before.variants:
            old = next((o for o in other.tests if o.test == outcome.test and o.samples and not o.stopped), None)
            if old is None or not same_setup(other, variant):
                continue
            return Change(
                before=before,
                decode=_relative(outcome.decode, old.decode),
                prefill=_relative(outcome.prefill, old.prefill),
                build=(before.build, before.engine) != (report.build, report.engine),
                driver=bool(variant.place and other.place and variant.place.driver != other.place.driver),
            )
    return None


def same_setup(one: VariantResult, other: VariantResult) -> bool:
    """The same device and backend, and options that make no difference but the context's length."""
    if one.place is None or other.place is None:
        return False
    same_place = all(getattr(one.place, name) == getattr(other.place, name) for name in ("name", "backend", "pci"))
    return same_place and _kernel(one) == _kernel(other)


def _kernel(variant: VariantResult) -> tuple[LoadOptions, bool | None, int]:
    """What decides the speed. How the device was named does not, nor whether flash attention was asked for or taken."""
    defaults = LoadOptions()
    options = msgspec.structs.replace(
        variant.options,
        n_ctx=defaults.n_ctx,
        device=None,
        flash_attention=defaults.flash_attention,
        n_gpu_layers=defaults.n_gpu_layers,
    )
    return options, variant.flash_attention, variant.gpu_layers


def _same_model(one: Report, other: Report) -> bool:
    return (one.model.name, one.model.size_bytes, one.model.quant) == (
        other.model.name,
        other.model.size_bytes,
        other.model.quant,
    )


def _relative(new: Spread | None, old: Spread | None) -> float | None:
    return new.median / old.median - 1 if new and old else None
