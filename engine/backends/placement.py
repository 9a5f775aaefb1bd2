"""Which devices a model is laid on, with what shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.backends.choice import CPU, Choice, choose, find_device, other_backend
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind, LoadOptions, SplitMode

SplitsRows = Callable[[Sequence[DeviceInfo]], bool]

NO_ROWS = "These devices cannot share rows; the model is split by layers."


@dataclass(frozen=True)
class Placement:
    """Devices in order, the main one first. ``split`` None: one device. ``shares`` empty: by free memory."""

    devices: tuple[DeviceInfo, ...]
    split: SplitMode | None = None
    shares: tuple[float, ...] = ()
    reason: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def main(self) -> DeviceInfo:
        """The device that is named where only one is shown."""
        return self.devices[0]


def place(
    devices: Sequence[DeviceInfo], backends: Sequence[BackendInfo], options: LoadOptions, splits_rows: SplitsRows
) -> Placement:
    """Where a model goes. What is not there is left out with a warning; with nothing left the choice is automatic.

    Args:
        splits_rows: Whether devices can share the rows of a matrix in this order.

    Raises:
        VrambleError: ``no-cpu-backend`` when there is not even a CPU backend.
    """
    if len(options.devices) < 2 or options.n_gpu_layers == 0:
        wanted = options.devices[0] if options.devices else options.device
        return _single(choose(devices, backends, wanted, options.n_gpu_layers))
    found, warnings = _named(devices, options)
    if not found:
        fallback = _single(choose(devices, backends, None, options.n_gpu_layers))
        warnings.append(f"{fallback.main.name} is used instead.")
        return replace(fallback, reason=fallback.reason or " ".join(warnings), warnings=tuple(warnings))
    if len(found) == 1:
        return Placement((found[0][0],), warnings=tuple(warnings))
    return _several(found, options, splits_rows, warnings)


def _single(choice: Choice) -> Placement:
    return Placement((choice.device,), reason=choice.reason, warnings=choice.warnings)


def _named(
    devices: Sequence[DeviceInfo], options: LoadOptions
) -> tuple[list[tuple[DeviceInfo, float | None]], list[str]]:
    """The devices asked for that can be used, each once, with their shares."""
    found: list[tuple[DeviceInfo, float | None]] = []
    warnings = []
    shares: Sequence[float | None] = options.shares or (None,) * len(options.devices)
    for wanted, share in zip(options.devices, shares, strict=True):
        device = find_device(devices, wanted)
        problem = _problem(wanted, device, [seen for seen, _ in found])
        if problem:
            warnings.append(problem)
        elif device is not None and share != 0:
            found.append((device, share))
            warnings += filter(None, [other_backend(device, wanted)])
    return found, warnings


def _problem(wanted: str, device: DeviceInfo | None, seen: Sequence[DeviceInfo]) -> str | None:
    if device is None:
        return f"The device {wanted} was not found." if wanted.lower() != CPU else _beside(wanted)
    if device.kind is DeviceKind.CPU:
        return _beside(device.name)
    if not device.usable:
        return f"The device {device.name} is not used: {(device.reason or 'it cannot be used.').rstrip('.')}."
    if any(device.id == other.id or (device.pci and device.pci == other.pci) for other in seen):
        return f"The device {wanted} is named twice; it is used once."
    return None


def _beside(name: str) -> str:
    return f"{name} is left out: the processor takes what the GPU layers leave over."


def _several(
    found: Sequence[tuple[DeviceInfo, float | None]],
    options: LoadOptions,
    splits_rows: SplitsRows,
    warnings: list[str],
) -> Placement:
    devices = tuple(device for device, _ in found)
    shares = tuple(share for _, share in found if share is not None)
    split = options.split
    if split is SplitMode.ROW and not splits_rows(devices):
        split = SplitMode.LAYER
        warnings.append(NO_ROWS)
    if split is SplitMode.ROW and not shares:
        # Without numbers the backend would share with devices that were not asked for.
        shares = tuple(float(device.memory_free or device.memory_total or 1) for device in devices)
    return Placement(devices, split, shares, warnings=tuple(warnings))
