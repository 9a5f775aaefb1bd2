"""Models on several devices: order, shares, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from engine.backends.placement import Placement, place
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions, SplitMode


def device(identity: str, kind: DeviceKind, pci: str | None = None, backend: str = "Vulkan", *, usable: bool = True):
    return DeviceInfo(
        id=identity,
        backend=backend,
        name=f"Card {identity}",
        pci=pci,
        kind=kind,
        memory_total=16 << 30,
        memory_free=(8 << 30) + int(identity[-1]) if identity[-1].isdigit() else None,
        usable=usable,
        reason=None if usable else "It is asleep.",
    )


CPU = device("CPU", DeviceKind.CPU, backend="CPU")
FIRST = device("Vulkan0", DeviceKind.GPU, "0000:03:00.0")
SECOND = device("Vulkan1", DeviceKind.GPU, "0000:0a:00.0")
SAME = device("ROCm0", DeviceKind.GPU, "0000:03:00.0", "ROCm")
IGPU = device("Vulkan2", DeviceKind.IGPU, "0000:c1:00.0")
ASLEEP = device("Vulkan3", DeviceKind.GPU, "0000:0b:00.0", usable=False)
ALL = [SAME, FIRST, SECOND, IGPU, ASLEEP, CPU]


def placed(*names: str, rows: bool = False, **options: Any) -> Placement:
    return place(ALL, [], LoadOptions(devices=names, **options), lambda _devices: rows)


@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST)])
def test_both_orders(order: tuple[DeviceInfo, DeviceInfo]) -> None:
    found = placed(*(str(device.pci) for device in order), shares=(3, 1))
    assert found == Placement(order, SplitMode.LAYER, (3, 1))
    assert found.main == order[0]


def test_an_integrated_one_can_be_named_beside_a_card() -> None:
    assert placed("Vulkan0", "Vulkan2").devices == (FIRST, IGPU)


def test_one_name_is_the_same_as_device() -> None:
    for name in ("0000:0a:00.0", "cpu", "gone", "Vulkan3"):
        assert placed(name) == place(ALL, [], LoadOptions(device=name), lambda _devices: True)


def test_no_layers_on_a_gpu_is_the_cpu() -> None:
    found = placed("Vulkan0", "Vulkan1", n_gpu_layers=0)
    assert (found.devices, found.split) == ((CPU,), None)
    assert found.reason


def test_one_card_through_two_backends_is_one_device() -> None:
    found = placed("Vulkan0", "ROCm0", "Vulkan1", shares=(1, 5, 1))
    assert (found.devices, found.shares) == ((FIRST, SECOND), (1, 1))
    assert "ROCm0 is named twice" in found.warnings[0]


def test_what_cannot_be_used_takes_its_share_with_it() -> None:
    found = placed("gone", "0000:0A:00.0", "Vulkan3", "cpu", "Vulkan0", shares=(1, 2, 3, 4, 5))
    assert (found.devices, found.shares) == ((SECOND, FIRST), (2, 5))
    assert [("not found" in w, "asleep" in w, "left out" in w) for w in found.warnings] == [
        (True, False, False),
        (False, True, False),
        (False, False, True),
    ]


def test_a_share_of_nothing_is_no_device() -> None:
    assert placed("Vulkan0", "Vulkan1", shares=(0, 2)) == Placement((SECOND,))


def test_none_left_chooses_by_itself_and_says_so() -> None:
    found = placed("gone", "Vulkan3")
    assert found.main.kind is DeviceKind.GPU
    assert found.split is None
    assert found.warnings[-1] == f"{found.main.name} is used instead."
    assert found.reason == " ".join(found.warnings)


def test_rows_where_the_backend_can() -> None:
    assert placed("Vulkan0", "Vulkan1", split=SplitMode.ROW, shares=(1, 2), rows=True).split is SplitMode.ROW
    by_memory = placed("Vulkan0", "Vulkan1", split=SplitMode.ROW, rows=True)
    assert by_memory.shares == (float(8 << 30), float((8 << 30) + 1))
    fallback = placed("Vulkan0", "Vulkan1", split=SplitMode.ROW)
    assert fallback.split is SplitMode.LAYER
    assert "cannot share rows" in fallback.warnings[0]
