"""The safe-mode ladder: what to change, one thing at a time, when a GPU fails a model. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from engine.client.death_words import GPU_MEMORY_WORDS, HANG
from engine.errors import VrambleError
from engine.loading.check import check_options
from engine.loading.device_name import named, through_backend
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, LoadOptions

CPU: Final = "cpu"

GPU_KINDS: Final = frozenset({DeviceKind.GPU, DeviceKind.IGPU})
GPU_MEMORY: Final = "out-of-device-memory"
WRONG_RESULTS: Final = "wrong-results"
"""A self-test failed."""

CLIMBING: Final = frozenset(
    {
        GPU_MEMORY,
        "device-lost",
        "engine-assert",
        "worker-aborted",
        "worker-crashed",
        "decode-failed",
        HANG,
        WRONG_RESULTS,
    }
)
"""Codes of failures that other options may avoid. Not `killed`: the system ends what takes too much RAM."""

_ANY_MEMORY = frozenset({"out-of-memory", "context-memory"})
_HOST_VISIBLE_OFF = {"GGML_VK_DISABLE_HOST_VISIBLE_VIDMEM": "1"}


class Rung(StrEnum):
    """One change, in the order in which they are tried. A higher rung keeps the changes below it."""

    MICRO_BATCH_128 = "micro-batch-128"
    MICRO_BATCH_64 = "micro-batch-64"
    FLASH_ATTENTION_OFF = "flash-attention-off"
    HOST_VISIBLE_OFF = "host-visible-memory-off"
    KV_ON_CPU = "kv-on-cpu"
    LAYERS_THREE_QUARTERS = "layers-three-quarters"
    LAYERS_HALF = "layers-half"
    CPU = "cpu"
    """Alone: the changes for the GPU are taken back."""


SENTENCES: Final[dict[Rung, str]] = {
    Rung.MICRO_BATCH_128: "The GPU reads prompts in steps of 128 tokens.",
    Rung.MICRO_BATCH_64: "The GPU reads prompts in steps of 64 tokens.",
    Rung.FLASH_ATTENTION_OFF: "Flash attention is off.",
    Rung.HOST_VISIBLE_OFF: "Video memory that the processor can see is not used.",
    Rung.KV_ON_CPU: "The KV cache is kept in RAM.",
    Rung.LAYERS_THREE_QUARTERS: "Three quarters of the layers run on the GPU.",
    Rung.LAYERS_HALF: "Half of the layers run on the GPU.",
    Rung.CPU: "The model runs on the CPU.",
}
"""What each rung changes."""

_REPLACED_BY: Final[dict[Rung, Rung]] = {
    Rung.MICRO_BATCH_128: Rung.MICRO_BATCH_64,
    Rung.LAYERS_THREE_QUARTERS: Rung.LAYERS_HALF,
}


_MICRO_BATCHES: Final = frozenset({Rung.MICRO_BATCH_128, Rung.MICRO_BATCH_64})


def cause(code: str, detail: str) -> str:
    """``code``, made exact where a load failure says only that memory was short: of the GPU, going by its log."""
    if code in _ANY_MEMORY and re.search(GPU_MEMORY_WORDS, detail, re.IGNORECASE):
        return GPU_MEMORY
    return code


def main_gpu(devices: Sequence[DeviceInfo], options: LoadOptions) -> DeviceInfo | None:
    """The GPU that a load with ``options`` uses first; None when that is the CPU or a software driver."""
    wanted = (options.devices[0] if options.devices else options.device or "").lower()
    if wanted == CPU or options.n_gpu_layers == 0:
        return None
    usable = [d for d in devices if d.usable]
    found = [d for d in usable if named(d, wanted)]
    if found:
        device = next((d for d in found if through_backend(d, wanted)), found[0])
        return device if device.kind in GPU_KINDS else None
    gpus = [d for d in usable if d.kind in GPU_KINDS]
    return min(gpus, key=lambda d: (d.kind is not DeviceKind.GPU, -(d.memory_free or 0)), default=None)


def next_rung(
    options: LoadOptions, device: DeviceInfo | None, code: str, tried: Sequence[Rung], n_layers: int = 0
) -> Rung | None:
    """The next change to try, or None: nothing that could help is left.

    Args:
        options: As the user asked, without the rungs.
        device: Where it failed, see `main_gpu`.
        code: Why it failed, see `cause`; only those in `CLIMBING` have a next rung.
        tried: Rungs that the failed load had.
        n_layers: Layers of the model; 0 when unknown, then only a given number of GPU layers can be lowered.
    """
    if device is None or device.kind not in GPU_KINDS or code not in CLIMBING or Rung.CPU in tried:
        return None
    return next((rung for rung in Rung if _helps(rung, options, device, code, tried, n_layers)), None)


def _helps(
    rung: Rung, options: LoadOptions, device: DeviceInfo, code: str, tried: Sequence[Rung], n_layers: int
) -> bool:
    """The rung changes something, is allowed, and is not known to make it worse."""
    if rung in tried:
        return False
    if rung in _MICRO_BATCHES and code == WRONG_RESULTS:
        return False  # the text of the self-test fits into each of them
    if rung is Rung.HOST_VISIBLE_OFF:
        return device.backend == "Vulkan"
    if rung is Rung.FLASH_ATTENTION_OFF and code == GPU_MEMORY:
        return False  # without it the compute buffers grow
    changed = apply(options, (*tried, rung), n_layers)
    return changed != apply(options, tried, n_layers) and _allowed(changed)


def _allowed(options: LoadOptions) -> bool:
    try:
        check_options(options)
    except VrambleError:
        return False
    return True


def apply(options: LoadOptions, rungs: Iterable[Rung], n_layers: int = 0) -> LoadOptions:
    """``options`` with the changes of ``rungs``."""
    taken = frozenset(rungs)
    if Rung.CPU in taken:
        return msgspec.structs.replace(options, device=CPU, devices=(), shares=())
    for rung in Rung:
        if rung in taken and rung in _CHANGES and _REPLACED_BY.get(rung) not in taken:
            options = _CHANGES[rung](options, n_layers)
    return options


def environment(rungs: Iterable[Rung]) -> dict[str, str]:
    """Variables that the worker needs for ``rungs``."""
    taken = frozenset(rungs)
    return dict(_HOST_VISIBLE_OFF) if Rung.HOST_VISIBLE_OFF in taken and Rung.CPU not in taken else {}


def sentences(rungs: Iterable[Rung]) -> tuple[str, ...]:
    """What ``rungs`` change, in the ladder's order, without what a higher rung replaces."""
    taken = frozenset(rungs)
    if Rung.CPU in taken:
        return (SENTENCES[Rung.CPU],)
    return tuple(SENTENCES[rung] for rung in Rung if rung in taken and _REPLACED_BY.get(rung) not in taken)


def rungs_named(names: Iterable[str]) -> tuple[Rung, ...]:
    """Rungs by their names; names of another version are left out."""
    known = {rung.value for rung in Rung}
    return tuple(Rung(name) for name in names if name in known)


def _micro_batch(most: int) -> Callable[[LoadOptions, int], LoadOptions]:
    return lambda options, _n_layers: msgspec.structs.replace(options, n_ubatch=min(options.n_ubatch, most))


def _layers(quarters: int) -> Callable[[LoadOptions, int], LoadOptions]:
    def fewer(options: LoadOptions, n_layers: int) -> LoadOptions:
        given = options.n_gpu_layers
        total = n_layers if given < 0 else min(given, n_layers or given)
        share = total * quarters // 4
        return msgspec.structs.replace(options, n_gpu_layers=share) if share > 0 else options

    return fewer


_CHANGES: Final[dict[Rung, Callable[[LoadOptions, int], LoadOptions]]] = {
    Rung.MICRO_BATCH_128: _micro_batch(128),
    Rung.MICRO_BATCH_64: _micro_batch(64),
    Rung.FLASH_ATTENTION_OFF: lambda options, _: msgspec.structs.replace(options, flash_attention=FlashAttention.OFF),
    Rung.KV_ON_CPU: lambda options, _: msgspec.structs.replace(options, kv_on_cpu=True),
    Rung.LAYERS_THREE_QUARTERS: _layers(3),
    Rung.LAYERS_HALF: _layers(2),
}
