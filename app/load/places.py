"""Where a model may run, as choices: by itself, one device, several, the CPU. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from app.settings.device_choice import Card, cards_of
from app.settings.records import EngineSettings
from engine.loading.device_name import SEPARATOR, named, split_name, through_backend
from engine.loading.profile import CPU
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions

PLACE_FIELDS = ("device", "devices", "shares", "split")


class PlaceKind(StrEnum):
    """Kinds of choices."""

    AUTO = "auto"
    DEVICE = "device"
    SEVERAL = "several"
    CPU = "cpu"


@dataclass(frozen=True)
class Place:
    """One choice.

    Attributes:
        name: How the device is stored (see `engine.loading.device_name`).
        device: The device; None when it is not there now, and for choices that are no single one.
    """

    kind: PlaceKind
    name: str = ""
    device: DeviceInfo | None = None


def places(options: LoadOptions, devices: Sequence[DeviceInfo]) -> tuple[Place, ...]:
    """All choices, the present one among them even when its device is gone."""
    cards = cards_of([d for d in devices if d.usable], EngineSettings())
    found = [Place(PlaceKind.AUTO)]
    for card in cards:
        for number, device in enumerate(card.devices):
            found.append(
                Place(PlaceKind.DEVICE, f"{card.key}{SEPARATOR}{device.backend}" if number else card.key, device)
            )
    chosen = _chosen(options)
    if chosen is not None and place_of(options, found) is None:
        found.append(Place(PlaceKind.DEVICE, chosen))
    if len(cards) > 1 or len(options.devices) > 1:
        found.append(Place(PlaceKind.SEVERAL))
    return (*found, Place(PlaceKind.CPU, CPU))


def place_of(options: LoadOptions, choices: Sequence[Place]) -> int | None:
    """Which of ``choices`` ``options`` hold; None when their device is not among them."""
    if len(options.devices) > 1:
        return _first(choices, lambda place: place.kind is PlaceKind.SEVERAL)
    chosen = options.devices[0] if options.devices else options.device
    if chosen is None:
        return _first(choices, lambda place: place.kind is PlaceKind.AUTO)
    if chosen.lower() == CPU:
        return _first(choices, lambda place: place.kind is PlaceKind.CPU)
    exact = _first(choices, lambda place: place.name.lower() == chosen.lower())
    if exact is not None:
        return exact
    if split_name(chosen)[1] is not None:
        return _first(choices, lambda place: _is_through(place, chosen))
    return _first(choices, lambda place: _is(place, chosen))


def with_place(options: LoadOptions, place: Place, devices: Sequence[DeviceInfo]) -> LoadOptions:
    """``options`` with the model at ``place``; several begin with all graphics cards, discrete ones first."""
    if place.kind is PlaceKind.SEVERAL:
        cards = cards_of([d for d in devices if d.usable and d.kind is not DeviceKind.SOFTWARE], EngineSettings())
        ranked = sorted(cards, key=lambda card: card.shown is not None and card.shown.kind is not DeviceKind.GPU)
        names = tuple(card.key for card in ranked)
        return options if len(options.devices) > 1 else msgspec.structs.replace(options, devices=names, shares=())
    name = place.name or None
    return msgspec.structs.replace(options, device=name, devices=(), shares=())


def as_settings(options: LoadOptions) -> EngineSettings:
    """The devices of ``options`` for the functions of `app.settings.device_choice`."""
    return EngineSettings(device=options.device, devices=options.devices, shares=options.shares)


def cards_for(options: LoadOptions, devices: Sequence[DeviceInfo]) -> tuple[Card, ...]:
    """The cards that can share a model: the chosen ones in order, also those that are gone, then the others."""
    return cards_of([d for d in devices if d.usable], as_settings(options))


def _chosen(options: LoadOptions) -> str | None:
    """The single device by name, unless it is the CPU."""
    if len(options.devices) > 1:
        return None
    name = options.devices[0] if options.devices else options.device
    return None if name is None or name.lower() == CPU else name


def _is(place: Place, wanted: str) -> bool:
    return place.device is not None and named(place.device, wanted)


def _is_through(place: Place, wanted: str) -> bool:
    return place.device is not None and _is(place, wanted) and through_backend(place.device, wanted)


def _first(choices: Sequence[Place], holds: Callable[[Place], bool]) -> int | None:
    return next((number for number, place in enumerate(choices) if holds(place)), None)
