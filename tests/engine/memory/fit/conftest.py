from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.library.gguf import HeaderProblem
from engine.memory.fit import FitDevice, FitModel, read_model
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceInfo, DeviceKind
from tests.fakes.sparse_gguf import Model

MIB = 1 << 20


def info(
    id_: str, kind: DeviceKind, memory: int | None = 16 * GIB, name: str = "", pci: str | None = None
) -> DeviceInfo:
    return DeviceInfo(
        id=id_,
        backend="CPU" if kind is DeviceKind.CPU else "Vulkan",
        name=name or id_,
        pci=pci,
        kind=kind,
        memory_total=memory,
        memory_free=memory,
        usable=True,
    )


def cpu(room: int | None = 16 * GIB, bandwidth: float | None = None) -> FitDevice:
    return FitDevice(info=info("CPU", DeviceKind.CPU), room=room, bandwidth=bandwidth)


def gpu(
    room: int | None, number: int = 0, name: str = "AMD Radeon RX 7900 XTX", bandwidth: float | None = 960e9
) -> FitDevice:
    found = info(f"Vulkan{number}", DeviceKind.GPU, room, name, f"0000:0{number}:00.0")
    return FitDevice(info=found, room=room, bandwidth=bandwidth)


def apu(room: int | None, own: int = 0) -> FitDevice:
    return FitDevice(
        info=info("Vulkan0", DeviceKind.IGPU, room, "AMD Custom GPU 0932"), room=room, own=own, bandwidth=102e9
    )


@pytest.fixture
def fit(tmp_path: Path) -> Callable[[Model], FitModel]:
    """Writes a model and reads its header."""

    def read(model: Model) -> FitModel:
        found = read_model(model.write(tmp_path / "model.gguf"))
        assert not isinstance(found, HeaderProblem), found
        return found

    return read


def caches_of(model: FitModel) -> Sequence[tuple[int, int, int, int]]:
    """Keys, values, window, state of each layer."""
    return [(cache.keys, cache.values, cache.window, cache.state) for cache in model.caches]
