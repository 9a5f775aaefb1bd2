"""The ways to load a model that a race compares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from engine.bench.records import Race, Variant
from engine.errors import VrambleError
from engine.loading.device_name import SEPARATOR
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, KvType, LoadOptions

MICRO_BATCHES: Final = (64, 128, 256, 512)
"""Larger ones change nothing for prompts of 512 tokens."""

RACED: Final = {
    Race.DEVICES: ("device", "devices", "shares", "n_gpu_layers"),
    Race.FLASH_ATTENTION: ("flash_attention",),
    Race.MICRO_BATCH: ("n_ubatch", "n_batch"),
    Race.GUESSES: ("ngram", "draft"),
}
"""Fields of `LoadOptions` that a race decides, and that keeping the winner changes."""


def device_option(device: DeviceInfo, devices: Sequence[DeviceInfo]) -> str:
    """How ``device`` is named in load options, so that it means the same at the next start.

    The backend belongs to the name only where several backends show the same card.
    """
    if device.kind is DeviceKind.CPU:
        return "cpu"
    if device.pci is None:
        return device.id
    several = sum(other.pci == device.pci for other in devices) > 1
    return f"{device.pci}{SEPARATOR}{device.backend}" if several else device.pci


def on_device(options: LoadOptions, device: DeviceInfo, devices: Sequence[DeviceInfo]) -> LoadOptions:
    """``options`` for this device alone; all layers on it when it was the CPU that they were for."""
    layers = options.n_gpu_layers
    if device.kind is not DeviceKind.CPU and layers == 0:
        layers = -1
    name = device_option(device, devices)
    return msgspec.structs.replace(options, device=name, devices=(), shares=(), n_gpu_layers=layers)


def label_of(device: DeviceInfo, devices: Sequence[DeviceInfo]) -> str:
    """The backend, and the card where one backend shows several."""
    twins = [other for other in devices if other.backend == device.backend and other.usable]
    return f"{device.backend}: {device.name}" if len(twins) > 1 else device.backend


def variants_of(race: Race, options: LoadOptions, devices: Sequence[DeviceInfo]) -> tuple[Variant, ...]:
    """The variants of a race.

    Args:
        options: How the model is loaded otherwise.
        devices: For a race of devices: these take part; for others: which there are.

    Raises:
        VrambleError: ``nothing-to-compare``.
    """
    if race is Race.NONE:
        return (Variant(label="", options=options),)
    if race is Race.GUESSES:
        return _guesses(options)
    if race is Race.FLASH_ATTENTION:
        return _flash_attention(options)
    if race is Race.MICRO_BATCH:
        return tuple(
            Variant(
                label=f"micro-batch {size}",
                options=msgspec.structs.replace(options, n_ubatch=size, n_batch=max(size, options.n_batch)),
            )
            for size in MICRO_BATCHES
        )
    usable = [device for device in devices if device.usable]
    if len(usable) < 2:
        raise VrambleError(
            "nothing-to-compare",
            "There is only one device to run on.",
            "Compare flash attention or micro-batch sizes instead.",
        )
    return tuple(
        Variant(label=label_of(device, usable), options=on_device(options, device, devices)) for device in usable
    )


def _guesses(options: LoadOptions) -> tuple[Variant, ...]:
    ways: list[tuple[str, bool, str | None]] = [("no guesses", False, None), ("n-gram lookup", True, None)]
    if options.draft:
        ways.append(("draft model", False, options.draft))
    return tuple(
        Variant(label=label, options=msgspec.structs.replace(options, ngram=ngram, draft=draft))
        for label, ngram, draft in ways
    )


def _flash_attention(options: LoadOptions) -> tuple[Variant, ...]:
    if options.kv_type_v is not KvType.F16:
        raise VrambleError(
            "nothing-to-compare",
            "Without flash attention the values of the KV cache cannot be quantised.",
            "Choose f16 for the KV cache first.",
        )
    return tuple(
        Variant(label=f"flash attention {value.value}", options=msgspec.structs.replace(options, flash_attention=value))
        for value in (FlashAttention.ON, FlashAttention.OFF)
    )


def with_winner(options: LoadOptions, race: Race, winner: LoadOptions) -> LoadOptions:
    """``options`` with what the race decided, and nothing else of the winner."""
    changed = {name: getattr(winner, name) for name in RACED.get(race, ())}
    return msgspec.structs.replace(options, **changed)
