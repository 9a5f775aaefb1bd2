"""Options by keyword: the fields of `LoadOptions`, and of `Generate` and its `Sampling`, with the records' own types.

Tests hold these lists against the records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, TypeVar

import msgspec

from engine.errors import VrambleError
from engine.protocol.caching import Overflow
from engine.protocol.types import (
    FlashAttention,
    KvType,
    LogitBias,
    LoraAdapter,
    RopeScaling,
    SplitMode,
    Thinking,
)

R = TypeVar("R", bound=msgspec.Struct)


class LoadKeywords(TypedDict, total=False):
    """Fields of `LoadOptions`."""

    n_ctx: int
    n_gpu_layers: int
    device: str | None
    devices: tuple[str, ...]
    shares: tuple[float, ...]
    split: SplitMode
    n_batch: int
    n_ubatch: int
    n_threads: int
    n_parallel: int
    flash_attention: FlashAttention
    kv_type_k: KvType
    kv_type_v: KvType
    kv_on_cpu: bool
    n_cpu_moe: int
    mmap: bool | None
    rope_scaling: RopeScaling
    rope_freq_base: float
    rope_freq_scale: float
    yarn_orig_ctx: int
    yarn_ext_factor: float | None
    yarn_attn_factor: float | None
    yarn_beta_fast: float | None
    yarn_beta_slow: float | None
    lora: tuple[LoraAdapter, ...]
    draft: str | None
    draft_gpu_layers: int
    ngram: bool
    n_draft: int
    n_draft_min: int
    draft_p_min: float
    mmproj: str | None


class SamplingKeywords(TypedDict, total=False):
    """Fields of `Sampling`."""

    temperature: float
    top_k: int
    top_p: float
    min_p: float
    typical_p: float
    top_n_sigma: float
    xtc_probability: float
    xtc_threshold: float
    dynatemp_range: float
    dynatemp_exponent: float
    repeat_penalty: float
    frequency_penalty: float
    presence_penalty: float
    repeat_last_n: int
    dry_multiplier: float
    dry_base: float
    dry_allowed_length: int
    dry_penalty_last_n: int
    dry_sequence_breakers: tuple[str, ...]
    mirostat: int
    mirostat_tau: float
    mirostat_eta: float
    logit_bias: tuple[LogitBias, ...]
    grammar: str
    json_schema: str
    seed: int | None


class AnswerKeywords(SamplingKeywords, total=False):
    """What can be said of one answer: fields of `Generate` and of `Sampling`."""

    max_tokens: int | None
    stop: Sequence[str]
    thinking: Thinking
    prefill: str
    prefill_thinking: str
    conversation: str
    overflow: Overflow
    endless: bool


OF_ANSWER = frozenset(AnswerKeywords.__annotations__) - frozenset(SamplingKeywords.__annotations__)
"""Names that belong to `Generate` itself."""


def changed(record: R, changes: Mapping[str, Any]) -> R:
    """``record`` with these fields, converted as a frame would be: ``"q8_0"`` and ``KvType.Q8_0`` mean the same.

    Raises:
        VrambleError: ``bad-argument``: there is no such field, or the value does not fit.
    """
    kind = type(record)
    unknown = sorted(set(changes) - set(kind.__struct_fields__))
    if unknown:
        names = ", ".join(kind.__struct_fields__)
        raise VrambleError("bad-argument", f"There is no option {', '.join(unknown)}.", f"Options are: {names}.")
    fields = {name: getattr(record, name) for name in kind.__struct_fields__} | dict(changes)
    try:
        return msgspec.convert(msgspec.to_builtins(fields), kind)
    except (msgspec.ValidationError, TypeError) as error:
        raise VrambleError("bad-argument", f"An option has a value that does not fit: {error}.") from error
