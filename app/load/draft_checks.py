"""What is wrong with options for one model, and what a change of them asks for."""

from __future__ import annotations

from engine.errors import VrambleError
from engine.loading.check import Problem, problems
from engine.loading.facts import ModelFacts
from engine.loading.suits import check_heads
from engine.protocol.types import FlashAttention, KvType, LoadOptions

KV_FIELDS = ("kv_type_k", "kv_type_v")


def problems_of(options: LoadOptions, facts: ModelFacts) -> tuple[Problem, ...]:
    """What of ``options`` contradicts itself or the model, each with the field that it is shown at."""
    found = list(problems(options))
    try:
        check_heads(options, facts.metadata)
    except VrambleError as error:
        found.append(Problem(error.message, error.next_step, KV_FIELDS[options.kv_type_k is KvType.F16]))
    return tuple(found)


def needs_flash(before: LoadOptions, after: LoadOptions) -> bool:
    """The change makes the KV cache quantised while flash attention is off."""
    kinds = (after.kv_type_k, after.kv_type_v)
    became = kinds != (before.kv_type_k, before.kv_type_v) and after.kv_type_v is not KvType.F16
    return became and after.flash_attention is FlashAttention.OFF
