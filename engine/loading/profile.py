"""Load options that suit a kind of device: where they are asked for, and on integrated graphics by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from engine.loading.device_name import named, through_backend
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, KvType, LoadOptions

GIB = 1 << 30
IGPU_MICRO_BATCH = 128
"""A slow GPU computes 512 tokens for so long that the kernel takes it for hung."""

DESKTOP_RESERVE = 3 * GIB // 2
"""RAM that an APU has to leave to everything else: a Deck ends programs when little more than this is used up."""

TIGHT_ROOM = 6 * GIB
"""Less than this is tight when the size of the model is not known."""

TIGHT_REST = 2 * GIB
"""Less than this beside the weights is tight: KV cache, compute buffers and the desktop share it."""

CPU = "cpu"
_ORDER = (DeviceKind.GPU, DeviceKind.IGPU)


def profile_for(
    kind: DeviceKind, room: int | None, weights: int | None = None, base: LoadOptions | None = None
) -> LoadOptions:
    """``base`` (the defaults) changed for a device.

    An integrated GPU gets a small micro-batch and no mmap; a GPU of either kind with little room a KV cache in q8_0.
    On the CPU nothing changes.

    Args:
        room: Bytes that the model may take on the device; None when unknown, which is not tight.
        weights: Bytes of the model file; None when unknown.
    """
    options = base or LoadOptions()
    if kind is DeviceKind.IGPU:
        options = msgspec.structs.replace(options, n_ubatch=min(options.n_ubatch, IGPU_MICRO_BATCH), mmap=False)
    if kind in _ORDER and is_tight(room, weights):
        options = msgspec.structs.replace(options, kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0)
    return options


class Suit(StrEnum):
    """One thing that a profile changes."""

    SMALL_STEPS = "small-steps"
    """Small micro-batch: the kernel takes a slow GPU that computes for long for hung."""
    NO_MMAP = "no-mmap"
    """The file is read, not mapped: on unified memory mapped weights take their place twice."""
    KV_8_BIT = "kv-8-bit"
    """Keys and values in q8_0: there is little room beside the weights."""


@dataclass(frozen=True)
class Profile:
    """What suits a device: ``changes`` say in what ``options`` differ from what was there before."""

    options: LoadOptions
    kind: DeviceKind | None = None
    changes: tuple[Suit, ...] = ()


def suited(
    base: LoadOptions,
    kind: DeviceKind | None,
    room: int | None,
    weights: int | None,
    *,
    quantised_kv: bool,
) -> Profile:
    """``base`` with what suits the device, where ``base`` says nothing of its own (is as the defaults are).

    Args:
        kind: Of the device that will be taken; None when unknown, which changes nothing.
        room: As in `profile_for`.
        weights: As in `profile_for`.
        quantised_kv: The heads of the model are known to fit into the blocks of a quantised KV cache.
    """
    plain = LoadOptions()
    wanted = plain if kind is None else profile_for(kind, room, weights)
    allowed = quantised_kv and base.flash_attention is not FlashAttention.OFF
    fields = {
        Suit.SMALL_STEPS: ("n_ubatch",),
        Suit.NO_MMAP: ("mmap",),
        Suit.KV_8_BIT: ("kv_type_k", "kv_type_v") if allowed else (),
    }
    options, changes = base, []
    for suit, names in fields.items():
        other = {name: getattr(wanted, name) for name in names if getattr(wanted, name) != getattr(plain, name)}
        if other and all(getattr(base, name) == getattr(plain, name) for name in names):
            options = msgspec.structs.replace(options, **other)
            changes.append(suit)
    return Profile(options, kind, tuple(changes))


def is_tight(room: int | None, weights: int | None) -> bool:
    """Whether memory has to be saved."""
    if room is None:
        return False
    return room < TIGHT_ROOM if weights is None else room - weights < TIGHT_REST


def device_to_expect(devices: Sequence[DeviceInfo], wanted: str | None, n_gpu_layers: int = -1) -> DeviceInfo | None:
    """The device that a load will most likely take, out of what the worker said; it decides by itself."""
    cpu = next((device for device in devices if device.kind is DeviceKind.CPU), None)
    name = (wanted or "").lower()
    if name == CPU or n_gpu_layers == 0:
        return cpu
    usable = [device for device in devices if device.usable]
    asked = sorted((d for d in usable if named(d, name)), key=lambda d: not through_backend(d, name))
    ranked = sorted((d for d in usable if d.kind in _ORDER), key=lambda d: (_ORDER.index(d.kind), -_memory(d)))
    return next(iter(asked + ranked), cpu)


def room_on(device: DeviceInfo, devices: Sequence[DeviceInfo]) -> int | None:
    """Bytes free for a model on ``device``. An integrated GPU's memory is RAM: what is available bounds it."""
    if device.kind is not DeviceKind.IGPU:
        return device.memory_free
    ram = next((other.memory_free for other in devices if other.kind is DeviceKind.CPU), None)
    bounds = [device.memory_free, None if ram is None else max(0, ram - DESKTOP_RESERVE)]
    return min((bound for bound in bounds if bound is not None), default=None)


def _memory(device: DeviceInfo) -> int:
    return device.memory_free or device.memory_total or 0
