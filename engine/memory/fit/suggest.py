"""What would make a model fit: one change at a time, each with its forecast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from engine.errors import VrambleError
from engine.loading.check import check_options
from engine.memory.fit.measured import Measured
from engine.memory.fit.plan import fits_as_asked, predict
from engine.memory.fit.records import FitDevice, FitModel, FitPlan, Suggestion, Verdict
from engine.memory.fit.remote import scaled
from engine.memory.fit.sizes import context_cells
from engine.protocol.types import FlashAttention, KvType, LoadOptions

SHORTEST: Final = 2048
"""A context below this is no help."""

_STEP: Final = 1024
_SMALL_BATCH: Final = 128
_HALVINGS: Final = 10


@dataclass(frozen=True)
class _Search:
    """One model on one machine."""

    model: FitModel
    devices: Sequence[FitDevice]
    measured: Measured | None

    def good(self, options: LoadOptions) -> bool:
        """Whether options make sense and fit."""
        try:
            check_options(options)
        except VrambleError:
            return False
        return fits_as_asked(self.model, options, self.devices, self.measured)

    def if_good(self, kind: str, text: str, options: LoadOptions) -> Iterator[Suggestion]:
        """The suggestion, if it helps."""
        if self.good(options):
            yield Suggestion(kind=kind, text=text, plan=predict(self.model, options, self.devices, self.measured))


def suggest(
    model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], measured: Measured | None = None
) -> tuple[Suggestion, ...]:
    """Changes that make ``options`` fit, the one that costs the user least first; none when they fit already.

    Each changes one thing; where a smaller cache or micro-batch alone is not enough, they are combined with a context
    that is longer than the context alone would be.

    Raises:
        VrambleError: ``no-cpu-backend`` when there is no processor among the devices.
    """
    plan = predict(model, options, devices, measured)
    if plan.verdict not in (Verdict.NO, Verdict.PARTLY):
        return ()
    search = _Search(model, devices, measured)
    easy = [*_smaller_cache(search, options), *_smaller_batch(search, options)]
    shorter = [*_shorter(search, options)]
    found = [*easy, *shorter, *([] if easy else _together(search, plan, shorter)), *_experts(search, options)]
    if plan.proposal is not None:
        layers = plan.proposed_layers
        text = f"Put {layers} of {plan.max_layers} layers on the GPU" if layers else "Run it on the processor"
        found += search.if_good("layers" if layers else "cpu", text, plan.proposal)
    return (*found, *_without_draft(search, options), *_without_image(search, options))


def _without_draft(search: _Search, options: LoadOptions) -> Iterator[Suggestion]:
    if options.draft is not None:
        bare = _Search(msgspec.structs.replace(search.model, draft=None), search.devices, search.measured)
        yield from bare.if_good("draft", "Leave out the draft model", msgspec.structs.replace(options, draft=None))


def _without_image(search: _Search, options: LoadOptions) -> Iterator[Suggestion]:
    if options.mmproj is not None:
        bare = msgspec.structs.replace(search.model, image=0, image_host=0)
        without = _Search(bare, search.devices, search.measured)
        changed = msgspec.structs.replace(options, mmproj=None)
        yield from without.if_good("image", "Leave out the image encoder", changed)


def _smaller_cache(search: _Search, options: LoadOptions) -> Iterator[Suggestion]:
    if not search.model.quantised_kv:
        return
    for kv_type in (KvType.Q8_0, KvType.Q4_0):
        if options.kv_type_k is KvType.F16 or options.kv_type_v is KvType.F16 or kv_type is KvType.Q4_0:
            yield from search.if_good("kv", f"Keep the KV cache in {kv_type.value}", _with_kv(options, kv_type))


def _with_kv(options: LoadOptions, kv_type: KvType) -> LoadOptions:
    """A quantised cache needs flash attention."""
    flash = options.flash_attention
    flash = FlashAttention.AUTO if flash is FlashAttention.OFF else flash
    return msgspec.structs.replace(options, kv_type_k=kv_type, kv_type_v=kv_type, flash_attention=flash)


def _smaller_batch(search: _Search, options: LoadOptions) -> Iterator[Suggestion]:
    if options.n_ubatch > _SMALL_BATCH:
        changed = msgspec.structs.replace(options, n_ubatch=_SMALL_BATCH)
        yield from search.if_good("batch", f"Compute {_SMALL_BATCH} tokens at once", changed)


def _shorter(search: _Search, options: LoadOptions, also: str = "", kind: str = "context") -> Iterator[Suggestion]:
    """The longest context that fits, in whole thousands. ``also``: what else is changed already."""
    low, high = 0, (context_cells(search.model, options) - 1) // _STEP
    while low < high:
        middle = (low + high + 1) // 2
        if search.good(msgspec.structs.replace(options, n_ctx=middle * _STEP)):
            low = middle
        else:
            high = middle - 1
    if low * _STEP >= SHORTEST:
        text = f"Shorten the context to {low * _STEP} tokens{also}"
        yield from search.if_good(kind, text, msgspec.structs.replace(options, n_ctx=low * _STEP))


def _experts(search: _Search, options: LoadOptions) -> Iterator[Suggestion]:
    """As few layers as possible whose experts stay in RAM."""
    if not search.model.n_experts or options.n_cpu_moe >= search.model.n_layers:
        return
    low, high = options.n_cpu_moe + 1, search.model.n_layers
    while low < high:
        middle = (low + high) // 2
        if search.good(msgspec.structs.replace(options, n_cpu_moe=middle)):
            high = middle
        else:
            low = middle + 1
    text = f"Keep the experts of {low} layers in RAM"
    yield from search.if_good("experts", text, msgspec.structs.replace(options, n_cpu_moe=low))


def _together(search: _Search, plan: FitPlan, shorter: Sequence[Suggestion]) -> Iterator[Suggestion]:
    """KV cache, micro-batch, context and experts together, where that leaves more context than ``shorter`` does."""
    changed = msgspec.structs.replace(plan.options, n_ubatch=min(plan.options.n_ubatch, _SMALL_BATCH))
    also = [f"{changed.n_ubatch} tokens computed at once"]
    if search.model.quantised_kv:
        changed = _with_kv(changed, KvType.Q8_0)
        also.insert(0, "the KV cache in q8_0")
    if search.model.n_experts and plan.gpu_layers:
        changed = msgspec.structs.replace(changed, n_cpu_moe=search.model.n_layers)
        also.insert(0, "the experts in RAM")
    kind = "context" if changed.n_cpu_moe == plan.options.n_cpu_moe else "together"
    alone = max((item.plan.options.n_ctx for item in shorter), default=0)
    words = f", with {', '.join(also[:-1])} and {also[-1]}" if len(also) > 1 else f", with {also[0]}"
    found = [*search.if_good(kind, f"Keep the context{words}", changed)] or [*_shorter(search, changed, words, kind)]
    yield from (item for item in found if item.plan.options.n_ctx > alone)


def weights_that_fit(model: FitModel, options: LoadOptions, devices: Sequence[FitDevice]) -> int | None:
    """Bytes that the weights of another quant of this model may have, to fit as asked; None: unknown, or none would.

    The layers are taken to shrink alike, so it is right for quants of one kind.
    """
    low, high, best = 0.0, 1.0, None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        smaller = scaled(model, middle)
        if fits_as_asked(smaller, options, devices):
            low, best = middle, smaller.weights
        else:
            high = middle
    return best
