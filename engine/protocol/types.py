"""Values that travel inside frames: no identity, no behaviour. The modules beside this one define them, by subject."""

from __future__ import annotations

from engine.protocol.answers import ChatMessage, FinishReason, GenerationStats, Thinking
from engine.protocol.devices import SWITCHED_OFF, BackendInfo, DeviceInfo, DeviceKind
from engine.protocol.load_options import FlashAttention, KvType, LoadOptions, LoraAdapter, RopeScaling, SplitMode
from engine.protocol.model_info import MemoryUse, ModelInfo
from engine.protocol.sampling import DRY_BREAKERS, LogitBias, Sampling

__all__ = [
    "DRY_BREAKERS",
    "SWITCHED_OFF",
    "BackendInfo",
    "ChatMessage",
    "DeviceInfo",
    "DeviceKind",
    "FinishReason",
    "FlashAttention",
    "GenerationStats",
    "KvType",
    "LoadOptions",
    "LogitBias",
    "LoraAdapter",
    "MemoryUse",
    "ModelInfo",
    "RopeScaling",
    "Sampling",
    "SplitMode",
    "Thinking",
]
