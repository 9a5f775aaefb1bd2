"""The most that the memory allows: for each token all weights and the KV cache are read once, by whoever holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from engine.bench.bandwidth import Bandwidth
from engine.bench.records import Roofline
from engine.errors import VrambleError
from engine.memory.fit import FitModel, fit_devices
from engine.memory.fit.placement import Layout, lay_out
from engine.memory.fit.speed import read_for_a_token
from engine.protocol.bench import BenchTest
from engine.protocol.types import DeviceInfo, LoadOptions


def roofline(
    model: FitModel,
    options: LoadOptions,
    devices: Sequence[DeviceInfo],
    speeds: Mapping[str, Bandwidth],
    test: BenchTest,
) -> Roofline | None:
    """The ceiling for the tokens that ``test`` generates; None for a test that generates none.

    The cache counts as it is half way: depth, prompt and half of what is generated.
    """
    if not test.generated:
        return None
    try:
        layout = lay_out(model, options, fit_devices(devices))
    except VrambleError:
        return None
    tokens = test.depth + test.prompt + test.generated // 2
    read = read_for_a_token(model, msgspec.structs.replace(options, n_ctx=tokens), layout, tokens)
    known = [speeds.get(device.info.id) for device in layout.devices]
    seconds = _seconds(layout, _divided(layout, read), known)
    main = known[max(range(len(read)), key=lambda place: read[place])]
    ceiling = Roofline(n_bytes=round(sum(read)), tps=1 / seconds if seconds else None)
    if main is None:
        return ceiling
    return msgspec.structs.replace(ceiling, bandwidth=main.speed, source=main.source)


def _divided(layout: Layout, read: list[float]) -> list[float]:
    """Where tensors are divided each GPU reads its part of all that GPUs hold."""
    if not layout.parts:
        return read
    whole = sum(size for place, size in enumerate(read) if place != layout.cpu)
    return [*(whole * part for part in layout.parts), read[layout.cpu]]


def _seconds(layout: Layout, read: list[float], speeds: Sequence[Bandwidth | None]) -> float | None:
    """Time to read all: one device after the other, or at once where tensors are divided. None: a speed is unknown."""
    times = []
    for size, speed in zip(read, speeds, strict=True):
        if size and speed is None:
            return None
        times.append(size / speed.speed if size and speed else 0.0)
    at_once = times[: len(layout.parts)]
    return max(at_once, default=0.0) + sum(times[len(at_once) :])
