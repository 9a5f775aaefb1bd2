"""The forecast: sizes by device, compared with the room there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from engine.memory.fit.balance import closest, gpu_balances
from engine.memory.fit.draft import draft_bytes
from engine.memory.fit.measured import Measured
from engine.memory.fit.placement import Layout, lay_out
from engine.memory.fit.records import DeviceUse, FitDevice, FitModel, FitPlan, Verdict
from engine.memory.fit.sizes import buffer_bytes, cache_bytes, output_bytes, weight_bytes
from engine.memory.fit.speed import tokens_a_second
from engine.memory.fit.words import reason_for
from engine.protocol.types import LoadOptions

_GOOD: Final = (Verdict.FITS, Verdict.TIGHT)


def predict(
    model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], measured: Measured | None = None
) -> FitPlan:
    """What a load with ``options`` takes on each device, and whether it fits. Pure, and fast enough for a slider.

    Where the cache of an architecture is only guessed, that a model fits is not said before a dry run said so.

    Args:
        devices: From `engine.memory.fit.devices.fit_devices`; the processor must be among them.
        measured: A dry run of this model: its buffers replace the formula, and for other options scale it.

    Raises:
        VrambleError: ``no-cpu-backend`` when there is no processor among the devices.
    """
    layout = lay_out(model, options, devices)
    uses = _uses(model, options, layout, measured)
    decides = closest(uses, layout)
    verdict = decides.verdict
    proposal, proposed = (options, layout.gpu_layers) if verdict is not Verdict.NO else (None, 0)
    if verdict is Verdict.NO and layout.gpu_layers:
        fewer = _most_layers(model, options, devices, layout.gpu_layers - 1, measured)
        if fewer is not None:
            verdict, proposed = Verdict.PARTLY, fewer
            proposal = msgspec.structs.replace(options, n_gpu_layers=fewer)
    if verdict in _GOOD and not model.known_cache and measured is None:
        verdict = Verdict.UNKNOWN
    shown = layout if proposal is None else lay_out(model, proposal, devices)
    return FitPlan(
        options=options,
        uses=uses,
        verdict=verdict,
        reason=reason_for(verdict, uses, decides, (proposed, model.max_layers)),
        gpu_layers=layout.gpu_layers,
        max_layers=model.max_layers,
        proposal=proposal,
        proposed_layers=proposed,
        room=_room(layout),
        speed=None if verdict is Verdict.NO else tokens_a_second(model, proposal or options, shown),
        exact=measured is not None and measured.is_for(options),
    )


def _most_layers(
    model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], most: int, measured: Measured | None = None
) -> int | None:
    """The largest number of GPU layers up to ``most`` with which the model fits; None when it does with none.

    Found by bisection: with each layer more a GPU holds more, and the RAM less.
    """

    def fits(layers: int) -> bool:
        changed = msgspec.structs.replace(options, n_gpu_layers=layers)
        layout = lay_out(model, changed, devices)
        return not any(balance.fails for balance in gpu_balances(_uses(model, changed, layout, measured)))

    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    changed = msgspec.structs.replace(options, n_gpu_layers=low)
    return low if fits_as_asked(model, changed, devices, measured) else None


def fits_as_asked(
    model: FitModel, options: LoadOptions, devices: Sequence[FitDevice], measured: Measured | None = None
) -> bool:
    """Whether `predict` would say that these very options fit; quicker."""
    layout = lay_out(model, options, devices)
    return closest(_uses(model, options, layout, measured), layout).verdict in _GOOD


def _uses(model: FitModel, options: LoadOptions, layout: Layout, measured: Measured | None) -> tuple[DeviceUse, ...]:
    weights, caches = weight_bytes(model, options, layout), cache_bytes(model, options, layout)
    buffers, drafts = buffer_bytes(model, options, layout), draft_bytes(model, options, layout)
    uses = (
        DeviceUse(
            device=device.info.id,
            name=device.info.name,
            kind=device.info.kind,
            weights=weights[number],
            kv=round(caches[number] * (measured.caches if measured else 1.0)),
            compute=measured.scaled(device.info.id, options, buffers[number]) if measured else buffers[number],
            output=output_bytes(model, options) if number == layout.cpu else 0,
            image=model.image if number == 0 else model.image_host if number == layout.cpu else 0,
            draft=drafts[number],
            room=device.room,
            reserve=device.reserve,
        )
        for number, device in enumerate(layout.devices)
    )
    return tuple(_corrected(use, device) for use, device in zip(uses, layout.devices, strict=True))


def _corrected(use: DeviceUse, device: FitDevice) -> DeviceUse:
    if device.learned is None:
        return use
    added = device.learned.for_total(use.total)
    return msgspec.structs.replace(use, learned=added, loads=device.learned.loads)


def _room(layout: Layout) -> int | None:
    deciding = layout.devices[:-1] if len(layout.devices) > 1 else layout.devices
    rooms = [device.room for device in deciding if device.room is not None]
    return sum(rooms) if len(rooms) == len(deciding) else None
