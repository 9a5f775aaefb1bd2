"""What the user wants measured, and the order that follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.bench.protocols import check_pair, fitting
from engine.bench.records import Order, Protocol, Race
from engine.bench.variants import on_device, variants_of
from engine.library.gguf import HeaderProblem
from engine.memory.fit import FitDevice, FitModel, read_model
from engine.protocol.types import DeviceInfo, LoadOptions


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark as it is chosen on the page.

    Attributes:
        device: ggml's id of the device; None: where the model runs in a chat.
        devices: Ids of those that take part in a race of devices.
    """

    path: Path
    protocol: Protocol = Protocol.DECODE512
    race: Race = Race.NONE
    device: str | None = None
    devices: tuple[str, ...] = ()
    runs: int = 3


def order_for(wish: Wish, options: LoadOptions, machine: Sequence[FitDevice]) -> tuple[Order, FitModel | None]:
    """The order, and what the header of its file says or None. Reads the header of the file.

    Args:
        options: How the model is loaded in a chat.

    Raises:
        VrambleError: ``nothing-to-compare``.
    """
    devices = [device.info for device in machine]
    options = _at(wish, options, devices)
    racing = [device for device in devices if wish.race is not Race.DEVICES or device.id in wish.devices]
    variants = variants_of(wish.race, options, racing)
    check_pair(wish.race, wish.protocol)
    read = read_model(wish.path)
    model = None if isinstance(read, HeaderProblem) else read
    tests, left_out = fitting(wish.protocol, variants, model, machine)
    order = Order(
        path=str(wish.path),
        protocol=wish.protocol,
        race=wish.race,
        variants=variants,
        tests=tests,
        runs=wish.runs,
        left_out=left_out,
    )
    return order, model


def _at(wish: Wish, options: LoadOptions, devices: Sequence[DeviceInfo]) -> LoadOptions:
    chosen = next((device for device in devices if device.id == wish.device), None)
    if wish.race is Race.DEVICES or chosen is None:
        return options
    return on_device(options, chosen, devices)
