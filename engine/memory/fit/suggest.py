"""What would make a model fit: one change at a time, each with its forecast."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from engine.errors import VrambleError
from engine.loading.check import check_options
from engine.memory.fit.measured import Measured
from engine.memory.fit.plan import predict
from engine.memory.fit.records import FitDevice, FitModel, FitPlan, Suggestion, Verdict
from engine.memory.fit.sizes import context_cells
from engine.protocol.types import FlashAttention, KvType, LoadOptions

SHORTEST: Final = 2048
"""A context below this is no help."""

_STEP: Final = 1024
_SMALL_BATCH: Final = 128
_HALVINGS: Final = 10
_GOOD: Final = (Verdict.FITS, Verdict.TIGHT)

Forecast = Callable[[LoadOptions], FitPlan | None]


def suggest(
    model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], measured: Measured | None = None
) -> tuple[Suggestion, ...]:
    """Changes that make ``options`` fit, the one that costs the user least first; none when they fit already.

    Each changes one thing; where no single change is enough, several are combined in the last one.
    """

    def forecast(changed: LoadOptions) -> FitPlan | None:
        try:
            check_options(changed)
        except VrambleError:
            return None
        return predict(model, changed, devices, measured)

    plan = forecast(options)
    if plan is None or plan.verdict in (*_GOOD, Verdict.UNKNOWN):
        return ()
    single = tuple(_single(model, plan, forecast))
    return single or tuple(_together(model, options, forecast))


def _single(model: FitModel, plan: FitPlan, forecast: Forecast) -> Iterator[Suggestion]:
    for kind, text, changed in _changes(plan.options):
        if found := _if_good(kind, text, forecast(changed)):
            yield found
    if found := _shorter(model, plan.options, forecast):
        yield found
    if found := _experts(model, plan.options, forecast):
        yield found
    if plan.proposal is not None:
        layers = plan.proposed_layers
        text = f"Put {layers} of {plan.max_layers} layers on the GPU" if layers else "Run it on the processor"
        if found := _if_good("layers" if layers else "cpu", text, forecast(plan.proposal)):
            yield found


def _changes(options: LoadOptions) -> Iterator[tuple[str, str, LoadOptions]]:
    for kv_type in (KvType.Q8_0, KvType.Q4_0):
        if options.kv_type_k is KvType.F16 or options.kv_type_v is KvType.F16 or kv_type is KvType.Q4_0:
            yield "kv", f"Keep the KV cache in {kv_type.value}", _with_kv(options, kv_type)
    if options.n_ubatch > _SMALL_BATCH:
        text = f"Compute {_SMALL_BATCH} tokens at once"
        yield "batch", text, msgspec.structs.replace(options, n_ubatch=_SMALL_BATCH)


def _with_kv(options: LoadOptions, kv_type: KvType) -> LoadOptions:
    flash = options.flash_attention
    flash = FlashAttention.AUTO if flash is FlashAttention.OFF else flash
    return msgspec.structs.replace(options, kv_type_k=kv_type, kv_type_v=kv_type, flash_attention=flash)


def _shorter(model: FitModel, options: LoadOptions, forecast: Forecast) -> Suggestion | None:
    """The longest context that fits, in whole thousands."""
    low, high, best = 0, (context_cells(model, options) - 1) // _STEP, None
    while low < high:
        middle = (low + high + 1) // 2
        plan = forecast(msgspec.structs.replace(options, n_ctx=middle * _STEP))
        if plan is not None and plan.verdict in _GOOD:
            low, best = middle, plan
        else:
            high = middle - 1
    if best is None or best.options.n_ctx < SHORTEST:
        return None
    return Suggestion(kind="context", text=f"Shorten the context to {best.options.n_ctx} tokens", plan=best)


def _experts(model: FitModel, options: LoadOptions, forecast: Forecast) -> Suggestion | None:
    """As few layers as possible whose experts stay in RAM."""
    if not model.n_experts or options.n_cpu_moe >= model.n_layers:
        return None
    low, high, best = options.n_cpu_moe + 1, model.n_layers + 1, None
    while low < high:
        middle = (low + high) // 2
        plan = forecast(msgspec.structs.replace(options, n_cpu_moe=middle))
        if plan is not None and plan.verdict in _GOOD:
            high, best = middle, plan
        else:
            low = middle + 1
    if best is None:
        return None
    return Suggestion(kind="experts", text=f"Keep the experts of {best.options.n_cpu_moe} layers in RAM", plan=best)


def _together(model: FitModel, options: LoadOptions, forecast: Forecast) -> Iterator[Suggestion]:
    """KV cache, micro-batch and context together."""
    small = msgspec.structs.replace(_with_kv(options, KvType.Q8_0), n_ubatch=min(options.n_ubatch, _SMALL_BATCH))
    if found := _shorter(model, small, forecast):
        text = f"{found.text}, with the KV cache in q8_0 and {small.n_ubatch} tokens computed at once"
        yield Suggestion(kind=found.kind, text=text, plan=found.plan)


def _if_good(kind: str, text: str, plan: FitPlan | None) -> Suggestion | None:
    return Suggestion(kind=kind, text=text, plan=plan) if plan is not None and plan.verdict in _GOOD else None


def weights_that_fit(model: FitModel, options: LoadOptions, devices: Sequence[FitDevice]) -> int | None:
    """Bytes that the weights of another quant of this model may have, to fit as asked; None: unknown, or none would.

    The layers are taken to shrink alike, so it is right for quants of one kind.
    """
    low, high, best = 0.0, 1.0, None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        smaller = _scaled(model, middle)
        if predict(smaller, options, devices).verdict in _GOOD:
            low, best = middle, smaller.weights
        else:
            high = middle
    return best


def _scaled(model: FitModel, part: float) -> FitModel:
    pieces = tuple(msgspec.structs.replace(piece, n_bytes=int(piece.n_bytes * part)) for piece in model.pieces)
    return msgspec.structs.replace(model, pieces=pieces, tied=int(model.tied * part))
