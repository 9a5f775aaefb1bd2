"""Engine settings that exclude each other: what gives way when one of them changes."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from app.settings.records import EngineSettings
from engine.protocol.types import FlashAttention, KvType, SplitMode


class Rule(StrEnum):
    """What was changed besides, and for what."""

    FLASH_FOR_KV = "flash-for-kv"
    """Flash attention is automatic again: quantised values in the KV cache need it."""
    F16_WITHOUT_FLASH = "f16-without-flash"
    """The KV cache is f16 again: without flash attention its values cannot be quantised."""
    FLASH_FOR_TENSOR = "flash-for-tensor"
    """Flash attention is automatic again: the split by tensors needs it."""
    LAYERS_WITHOUT_FLASH = "layers-without-flash"
    """Devices share by layers again: the split by tensors needs flash attention."""


def settled(before: EngineSettings, after: EngineSettings) -> tuple[EngineSettings, tuple[Rule, ...]]:
    """``after`` without contradictions: what the user changed last stays, the other gives way (`engine.loading.check`).

    Returns:
        The settings, and what was changed besides.
    """
    if after.flash_attention is not FlashAttention.OFF:
        return after, ()
    flash_is_new = before.flash_attention is not FlashAttention.OFF
    rules: list[Rule] = []
    if after.kv_type_v is not KvType.F16:
        rules.append(Rule.F16_WITHOUT_FLASH if flash_is_new else Rule.FLASH_FOR_KV)
    if after.split is SplitMode.TENSOR and len(after.devices) > 1:
        rules.append(Rule.LAYERS_WITHOUT_FLASH if flash_is_new else Rule.FLASH_FOR_TENSOR)
    for rule in rules:
        after = _applied(rule, after)
    return after, tuple(rules)


def _applied(rule: Rule, settings: EngineSettings) -> EngineSettings:
    if rule is Rule.LAYERS_WITHOUT_FLASH:
        return msgspec.structs.replace(settings, split=SplitMode.LAYER)
    if rule is Rule.F16_WITHOUT_FLASH:
        alike = settings.kv_type_k is settings.kv_type_v
        keys = KvType.F16 if alike else settings.kv_type_k
        return msgspec.structs.replace(settings, kv_type_k=keys, kv_type_v=KvType.F16)
    return msgspec.structs.replace(settings, flash_attention=FlashAttention.AUTO)
