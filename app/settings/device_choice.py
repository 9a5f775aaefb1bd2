"""Which devices the user chose, beside those that there are: pure functions on settings and records."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

import msgspec

from app.settings.records import EngineSettings
from engine.loading.check import MAX_DEVICES
from engine.loading.device_name import named, split_name
from engine.protocol.types import DeviceInfo, DeviceKind

T = TypeVar("T")

CPU = "cpu"


class Mode(StrEnum):
    """Who chooses."""

    AUTO = "auto"
    CPU = "cpu"
    PICKED = "picked"


@dataclass(frozen=True)
class Card:
    """One physical device, however many backends see it.

    Attributes:
        key: PCI address, or ggml's id where there is none: how it is stored.
        devices: The device as each backend shows it, the preferred one first; empty: not there now.
        backend: The backend the user chose for it; empty: the preferred one.
        place: Its place among the chosen ones, from 0; None: not chosen.
        share: Its part of the model, 0 to 100; None: by free memory.
    """

    key: str
    devices: tuple[DeviceInfo, ...] = ()
    backend: str = ""
    place: int | None = None
    share: int | None = None

    @property
    def present(self) -> bool:
        """Whether a backend shows it now."""
        return bool(self.devices)

    @property
    def shown(self) -> DeviceInfo | None:
        """The device as the chosen backend shows it."""
        by_backend = (device for device in self.devices if device.backend == self.backend)
        return next(by_backend, next(iter(self.devices), None))


def mode_of(settings: EngineSettings) -> Mode:
    """Who chooses, by ``settings``."""
    if settings.devices:
        return Mode.PICKED
    if settings.device is None:
        return Mode.AUTO
    return Mode.CPU if settings.device.lower() == CPU else Mode.PICKED


def picks(settings: EngineSettings) -> tuple[str, ...]:
    """The names of the chosen devices in order, as they are stored."""
    if settings.devices:
        return settings.devices
    return (settings.device,) if settings.device and mode_of(settings) is Mode.PICKED else ()


def percents(shares: Sequence[float]) -> tuple[int, ...]:
    """``shares`` in whole percent that add up to 100 (largest remainder); empty where they say nothing."""
    total = sum(shares)
    if total <= 0:
        return ()
    exact = [share * 100 / total for share in shares]
    result = [int(part) for part in exact]
    by_rest = sorted(range(len(exact)), key=lambda i: result[i] - exact[i])
    for index in by_rest[: 100 - sum(result)]:
        result[index] += 1
    return tuple(result)


def cards_of(devices: Iterable[DeviceInfo], settings: EngineSettings) -> tuple[Card, ...]:
    """The chosen cards in their order, also those that are gone, then the others. The processor is none."""
    groups: dict[str, list[DeviceInfo]] = {}
    for device in devices:
        if device.kind is not DeviceKind.CPU:
            groups.setdefault(device.pci or device.id, []).append(device)
    chosen = picks(settings)
    shares = percents(settings.shares) if len(settings.shares) == len(settings.devices) else ()
    cards = []
    for place, name in enumerate(chosen):
        key, backend = split_name(name)
        group = next((key_ for key_, group in groups.items() if any(named(d, key) for d in group)), None)
        found = tuple(groups.pop(group)) if group is not None else ()
        cards.append(Card(key, found, backend or "", place, shares[place] if shares else None))
    return (*cards, *(Card(key, tuple(group)) for key, group in groups.items()))


def with_mode(settings: EngineSettings, mode: Mode, cards: Sequence[Card]) -> EngineSettings:
    """``settings`` in which ``mode`` chooses. Picking begins with the best usable card."""
    if mode is Mode.CPU:
        return _with_picks(settings, (), (), device=CPU)
    if mode is Mode.AUTO:
        return _with_picks(settings, (), ())
    if mode_of(settings) is Mode.PICKED:
        return settings
    usable = [card for card in cards if card.shown is not None and card.shown.usable]
    usable.sort(key=lambda card: card.shown is not None and card.shown.kind is not DeviceKind.GPU)
    return _with_picks(settings, tuple(card.key for card in usable[:1]), ())


def with_card(settings: EngineSettings, card: Card, chosen: bool) -> EngineSettings:
    """``settings`` with ``card`` among the devices, at the end, or without it. Shares start anew."""
    now = picks(settings)
    if chosen and card.place is None and len(now) < MAX_DEVICES:
        return _with_picks(settings, (*now, card.key), ())
    if not chosen and card.place is not None:
        return _with_picks(settings, now[: card.place] + now[card.place + 1 :], ())
    return settings


def moved(settings: EngineSettings, place: int, step: int) -> EngineSettings:
    """``settings`` with the device at ``place`` one earlier (``step`` -1) or later (+1), its share with it."""
    names, shares = picks(settings), settings.shares
    other = place + step
    if not (0 <= place < len(names) and 0 <= other < len(names)):
        return settings
    if len(shares) == len(names):
        shares = _swapped(shares, place, other)
    return _with_picks(settings, _swapped(names, place, other), shares)


def with_backend(settings: EngineSettings, place: int, backend: str) -> EngineSettings:
    """``settings`` with the device at ``place`` through ``backend``; empty: the preferred one."""

    def rename(name: str) -> str:
        key = split_name(name)[0]
        return f"{key}/{backend}" if backend else key

    names = tuple(rename(name) if index == place else name for index, name in enumerate(picks(settings)))
    return _with_picks(settings, names, settings.shares)


def with_own_shares(settings: EngineSettings, own: bool) -> EngineSettings:
    """``settings`` with equal shares to begin with, or with shares by free memory."""
    names = picks(settings)
    return _with_picks(settings, names, (1.0,) * len(names) if own else ())


def with_share(settings: EngineSettings, place: int, percent: int) -> EngineSettings:
    """``settings`` with ``percent`` at ``place``; the others share the rest as they did before."""
    shares = list(percents(settings.shares))
    if not 0 <= place < len(shares) or len(shares) < 2:
        return settings
    percent = min(100, max(0, percent))
    rest = sum(shares) - shares[place]
    others = len(shares) - 1
    result = [
        float(percent if index == place else (100 - percent) * (share / rest if rest else 1 / others))
        for index, share in enumerate(shares)
    ]
    return _with_picks(settings, picks(settings), tuple(result))


def _swapped(items: Sequence[T], one: int, other: int) -> tuple[T, ...]:
    result = list(items)
    result[one], result[other] = result[other], result[one]
    return tuple(result)


def _with_picks(
    settings: EngineSettings, names: tuple[str, ...], shares: tuple[float, ...], device: str | None = None
) -> EngineSettings:
    return msgspec.structs.replace(settings, devices=names, shares=shares if names else (), device=device)
