"""Which device a model runs on, and the sentence that says why it is the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.errors import VrambleError
from engine.loading.device_name import named, split_name, through_backend
from engine.loading.why_cpu import why_cpu
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind

CPU = "cpu"
_PREFERENCE = {DeviceKind.GPU: 0, DeviceKind.IGPU: 1}
_BACKEND_PREFERENCE = ("Vulkan", "ROCm", "CUDA")


@dataclass(frozen=True)
class Choice:
    """The chosen device. ``reason`` is set when that is the CPU or not what was asked for."""

    device: DeviceInfo
    reason: str | None = None
    warnings: tuple[str, ...] = ()


def choose(
    devices: Sequence[DeviceInfo], backends: Sequence[BackendInfo], wanted: str | None, gpu_layers: int
) -> Choice:
    """The device for a model.

    Args:
        wanted: PCI address, ggml device id, ``cpu``, or None to choose: discrete before integrated before CPU, the
            one with most free memory of equals. Software drivers are never chosen, only taken when named.
        gpu_layers: Layers that may go to the GPU; 0 means the CPU.

    Raises:
        VrambleError: ``no-cpu-backend`` when there is not even a CPU backend.
    """
    cpu = _cpu_of(devices, backends)
    if wanted is not None and wanted.lower() == CPU:
        return Choice(cpu, "Runs on the CPU, as chosen.")
    if gpu_layers == 0:
        return Choice(cpu, "Runs on the CPU: no layers are given to the GPU.")
    named = find_device(devices, wanted) if wanted else None
    if named is not None and named.usable:
        on_cpu = "Runs on the CPU, as chosen." if named.kind is DeviceKind.CPU else None
        return Choice(named, on_cpu, tuple(filter(None, [other_backend(named, wanted or "")])))
    best = best_gpu(devices)
    chosen = Choice(best) if best else Choice(cpu, why_cpu(devices, backends))
    if not wanted:
        return chosen
    warning = _not_as_wanted(wanted, named, chosen.device)
    return Choice(chosen.device, chosen.reason or warning, (warning,))


def _cpu_of(devices: Sequence[DeviceInfo], backends: Sequence[BackendInfo]) -> DeviceInfo:
    for device in devices:
        if device.kind is DeviceKind.CPU:
            return device
    errors = [backend.error for backend in backends if backend.name == "CPU" and backend.error]
    raise VrambleError(
        "no-cpu-backend",
        "The engine's part for this processor could not be loaded.",
        "Install Vramble again on this computer.",
        "\n".join(errors),
    )


def find_device(devices: Sequence[DeviceInfo], wanted: str) -> DeviceInfo | None:
    """The device with this id or PCI address (see `engine.loading.device_name`). A card that several backends see is
    taken through the one that is asked for, else through the preferred one, in any case through one that can."""

    def rank(device: DeviceInfo) -> tuple[bool, bool, tuple[bool, int]]:
        return not device.usable, not through_backend(device, wanted), _backend_rank(device)

    return min((device for device in devices if named(device, wanted)), key=rank, default=None)


def other_backend(device: DeviceInfo, wanted: str) -> str | None:
    """A sentence where ``wanted`` asks for another backend than the one that ``device`` is used through."""
    backend = split_name(wanted)[1]
    if backend is None or through_backend(device, wanted):
        return None
    return f"{device.name} is used through {device.backend}: {backend} does not offer it now."


def best_gpu(devices: Sequence[DeviceInfo]) -> DeviceInfo | None:
    """The GPU to use when nothing was asked for."""
    candidates = [d for d in one_for_each_card(devices) if d.usable and d.kind in _PREFERENCE]
    return min(candidates, key=lambda d: (_PREFERENCE[d.kind], -(d.memory_free or d.memory_total or 0)), default=None)


def one_for_each_card(devices: Sequence[DeviceInfo]) -> list[DeviceInfo]:
    """``devices`` with each PCI address once, through the preferred backend of those that can use it."""
    cards: dict[str, DeviceInfo] = {}
    for device in sorted(devices, key=_backend_rank):
        cards.setdefault(device.pci or f"{device.backend}/{device.id}", device)
    return list(cards.values())


def _backend_rank(device: DeviceInfo) -> tuple[bool, int]:
    known = device.backend in _BACKEND_PREFERENCE
    return not device.usable, _BACKEND_PREFERENCE.index(device.backend) if known else len(_BACKEND_PREFERENCE)


def _not_as_wanted(wanted: str, named: DeviceInfo | None, device: DeviceInfo) -> str:
    if named is None:
        return f"The device {wanted} was not found; {device.name} is used instead."
    return f"The device {named.name} is not used: {(named.reason or 'it cannot be used.').rstrip('.')}."
