"""Which device, and the sentence that says why."""

from __future__ import annotations

from typing import Any

import pytest

from engine.backends.choice import choose, one_for_each_card
from engine.errors import VrambleError
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind

GIB = 1 << 30
CARD, APU = "0000:03:00.0", "0000:c4:00.0"


def device(id_: str, kind: DeviceKind, **fields: Any) -> DeviceInfo:
    values: dict[str, Any] = {
        "backend": "Vulkan",
        "name": f"name of {id_}",
        "pci": None,
        "memory_total": 16 * GIB,
        "memory_free": 8 * GIB,
        "usable": True,
    }
    return DeviceInfo(id=id_, kind=kind, **{**values, **fields})


CPU = device("CPU", DeviceKind.CPU, backend="CPU", name="Processor")
GPU = device("Vulkan0", DeviceKind.GPU, pci=CARD)
IGPU = device("Vulkan1", DeviceKind.IGPU, pci=APU, memory_free=64 * GIB)
HIP = device("ROCm0", DeviceKind.GPU, backend="ROCm", pci=CARD)
REFUSED = device("Software0", DeviceKind.SOFTWARE, name="llvmpipe (LLVM 15)", usable=False, reason="A software driver.")
ALLOWED = device("Vulkan0", DeviceKind.SOFTWARE, name="llvmpipe (LLVM 15)")
VULKAN = BackendInfo(name="Vulkan", path="/lib/libggml-vulkan.so", loaded=True)


def absent(error: str) -> BackendInfo:
    return BackendInfo(name="Vulkan", path="", loaded=False, error=error)


@pytest.mark.parametrize(
    ("devices", "wanted", "layers", "expected"),
    [
        ([CPU, IGPU, GPU], None, -1, GPU),
        ([IGPU, CPU], None, -1, IGPU),
        ([CPU], None, -1, CPU),
        ([GPU, CPU], "cpu", -1, CPU),
        ([GPU, CPU], None, 0, CPU),
        ([GPU, IGPU, CPU], APU, -1, IGPU),
        ([GPU, IGPU, CPU], APU.upper(), -1, IGPU),
        ([GPU, IGPU, CPU], "vulkan1", -1, IGPU),
        ([HIP, GPU, CPU], CARD, -1, GPU),
        ([HIP, GPU, CPU], None, -1, GPU),
        ([HIP, GPU, CPU], "ROCm0", -1, HIP),
        ([HIP, CPU], None, -1, HIP),
        ([CPU, ALLOWED], None, -1, CPU),
        ([CPU, ALLOWED], "Vulkan0", -1, ALLOWED),
    ],
)
def test_the_device(devices: list[DeviceInfo], wanted: str | None, layers: int, expected: DeviceInfo) -> None:
    assert choose(devices, [VULKAN], wanted, layers).device == expected


def test_the_card_with_most_free_memory() -> None:
    small = device("Vulkan2", DeviceKind.GPU, pci="0000:04:00.0", memory_free=1 * GIB)
    unknown = device("Vulkan3", DeviceKind.GPU, pci="0000:05:00.0", memory_free=None, memory_total=None)
    assert choose([CPU, unknown, small, GPU], [VULKAN], None, -1).device == GPU


def test_a_gpu_needs_no_reason() -> None:
    assert choose([CPU, GPU], [VULKAN], None, -1).reason is None


@pytest.mark.parametrize(
    ("devices", "vulkan", "sentence"),
    [
        ([CPU], VULKAN, "Runs on the CPU: no Vulkan driver was found."),
        ([CPU, REFUSED], VULKAN, "Runs on the CPU: the only graphics driver found is a software one (llvmpipe)."),
        (
            [CPU],
            absent("Vulkan was not built: glslc is missing."),
            "Runs on the CPU: Vulkan was not built: glslc is missing.",
        ),
        (
            [CPU],
            absent("libvulkan.so.1: cannot open shared object file: No such file or directory"),
            "Runs on the CPU: the Vulkan loader (libvulkan.so.1) is missing.",
        ),
        (
            [CPU],
            absent("libstdc++.so.9: cannot open shared object file: No such file or directory"),
            "Runs on the CPU: the Vulkan backend misses the library libstdc++.so.9.",
        ),
        (
            [CPU],
            absent("wrong ELF class"),
            "Runs on the CPU: the Vulkan backend could not be loaded (wrong ELF class).",
        ),
    ],
)
def test_why_it_is_the_cpu(devices: list[DeviceInfo], vulkan: BackendInfo, sentence: str) -> None:
    assert choose(devices, [vulkan], None, -1).reason == sentence


@pytest.mark.parametrize(("wanted", "layers"), [("cpu", -1), ("CPU", -1), (None, 0)])
def test_the_cpu_by_choice_says_so(wanted: str | None, layers: int) -> None:
    choice = choose([CPU, GPU], [VULKAN], wanted, layers)
    assert choice.reason is not None
    assert choice.reason.startswith("Runs on the CPU")
    assert choice.warnings == ()


def test_a_device_that_is_gone_falls_back_with_a_warning() -> None:
    choice = choose([CPU, IGPU], [VULKAN], CARD, -1)
    assert choice.device == IGPU
    assert choice.warnings == (f"The device {CARD} was not found; {IGPU.name} is used instead.",)
    assert choice.reason == choice.warnings[0]


def test_a_refused_software_driver_falls_back_with_its_reason() -> None:
    choice = choose([CPU, REFUSED], [VULKAN], "Software0", -1)
    assert choice.device == CPU
    assert choice.warnings == ("The device llvmpipe (LLVM 15) is not used: A software driver.",)
    assert choice.reason == "Runs on the CPU: the only graphics driver found is a software one (llvmpipe)."


def test_no_cpu_backend_at_all() -> None:
    broken = BackendInfo(name="CPU", path="/x", loaded=False, error="undefined symbol: ggml_x")
    with pytest.raises(VrambleError) as caught:
        choose([GPU], [VULKAN, broken], None, -1)
    assert (caught.value.code, caught.value.detail) == ("no-cpu-backend", "undefined symbol: ggml_x")


def test_a_card_that_two_backends_see_is_there_once() -> None:
    assert one_for_each_card([HIP, GPU, IGPU, CPU]) == [GPU, IGPU, CPU]
