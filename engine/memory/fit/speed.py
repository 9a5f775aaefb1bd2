"""How fast one answer will be: reading the weights takes the time, so the bytes over the bandwidth say it."""

from __future__ import annotations

from typing import Final

import msgspec

from engine.memory.fit.placement import Layout
from engine.memory.fit.records import INPUT, FitModel
from engine.memory.fit.sizes import cache_bytes
from engine.protocol.types import DeviceKind, LoadOptions

_TYPICAL_CONTEXT: Final = 1024
"""Tokens in the cache for which the speed is said."""

_REACHED: Final = {DeviceKind.GPU: 0.65, DeviceKind.IGPU: 0.65, DeviceKind.CPU: 0.5}
"""Share of the bandwidth that generation reaches: 60 to 70 % on GPUs (measured and reported figures)."""

_REACHED_OF_MEASURED: Final = 0.65
"""The same where the bandwidth is what reading reached on this computer."""


def tokens_a_second(model: FitModel, options: LoadOptions, layout: Layout) -> float | None:
    """Tokens a second of one answer; None where a device's bandwidth is unknown."""
    read = read_for_a_token(model, options, layout)
    seconds = 0.0
    for device, size in zip(layout.devices, read, strict=True):
        if not size:
            continue
        reached = _REACHED_OF_MEASURED if device.measured else _REACHED.get(device.info.kind)
        if device.bandwidth is None or reached is None:
            return None
        seconds += size / (device.bandwidth * reached)
    return 1 / seconds if seconds else None


def read_for_a_token(
    model: FitModel, options: LoadOptions, layout: Layout, tokens: int = _TYPICAL_CONTEXT
) -> list[float]:
    """Bytes by device with so many ``tokens`` in the cache: of the embeddings one row, of the experts those in use."""
    short = msgspec.structs.replace(options, n_ctx=min(options.n_ctx or tokens, tokens))
    read = [float(size) for size in cache_bytes(model, short, layout)]
    in_use = model.n_experts_used / model.n_experts if model.n_experts else 1.0
    for piece in model.pieces:
        if piece.layer == INPUT:
            continue
        device = layout.of_layer[min(piece.layer, model.n_layers)]
        if piece.expert and piece.layer < options.n_cpu_moe:
            device = layout.cpu
        read[device] += piece.n_bytes * (in_use if piece.expert else 1.0)
    read[layout.of_layer[-1]] += model.tied
    return read
