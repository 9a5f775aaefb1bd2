"""Why a backend has no device, and which cards a ROCm plugin has no code for."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.backends.devices import Device
from engine.backends.no_device import why_none, without_code
from engine.backends.vulkan_probe import PhysicalDevice, PhysicalType
from engine.protocol.types import DeviceInfo, DeviceKind
from tests.fakes.sysroot import build_sysroot

CARD = "0000:03:00.0"
SOFTWARE = PhysicalDevice(0, "llvmpipe (LLVM 15)", PhysicalType.CPU)
REAL = PhysicalDevice(0, "AMD Radeon RX 7900 XTX", PhysicalType.DISCRETE)


def with_kfd(root: Path) -> Path:
    (root / "dev").mkdir(parents=True, exist_ok=True)
    (root / "dev/kfd").touch()
    return root


def test_rocm_in_the_order_in_which_things_are_missed(tmp_path: Path) -> None:
    root = tmp_path / "machine"
    assert why_none("ROCm", {}, root, []) == (
        "No device: /dev/kfd is not there. ROCm needs a Radeon card and the amdgpu driver with its compute part."
    )
    with_kfd(root)
    none = "No device: the kernel lists no Radeon card that can compute (/sys/class/kfd)."
    assert why_none("ROCm", {}, root, []) == none
    build_sysroot("rx7900xtx", root)
    hidden = {"HIP_VISIBLE_DEVICES": "-1"}
    assert why_none("ROCm", hidden, root, []) == "No device: the variable HIP_VISIBLE_DEVICES ('-1') may hide it."
    assert why_none("ROCm", {}, root, []) == "No device: it found nothing on this computer that it can use."


def test_rocm_without_the_right_to_open_the_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    found = why_none("ROCm", {}, with_kfd(tmp_path), [])
    assert found is not None
    assert found.startswith("No device: /dev/kfd may not be opened. Add yourself to the group")


@pytest.mark.parametrize(
    ("physical", "cause"),
    [
        ([], "no Vulkan driver was found."),
        ([SOFTWARE], "the only Vulkan driver is a software one (llvmpipe), which is not used."),
        ([REAL], "it found nothing on this computer that it can use."),
        (None, "it found nothing on this computer that it can use."),
    ],
)
def test_vulkan(physical: list[PhysicalDevice] | None, cause: str, tmp_path: Path) -> None:
    assert why_none("Vulkan", {}, tmp_path, physical) == f"No device: {cause}"


def test_what_needs_no_device_says_nothing(tmp_path: Path) -> None:
    assert why_none("RPC", {}, tmp_path, []) is None
    assert why_none("BLAS", {}, tmp_path, []) is None


def rocm(pci: str | None = CARD, backend: str = "ROCm") -> Device:
    info = DeviceInfo(
        id="ROCm0",
        backend=backend,
        name="Card",
        pci=pci,
        kind=DeviceKind.GPU,
        memory_total=None,
        memory_free=None,
        usable=True,
    )
    return Device(info, 1)


@pytest.mark.parametrize(
    ("built_for", "override", "usable"),
    [
        (("gfx1100",), "", True),
        (("gfx1030", "gfx1100"), "", True),
        (("gfx1030",), "", False),
        (("gfx11-generic",), "", True),
        (("gfx10-3-generic",), "", False),
        (("gfx1100:xnack-",), "", True),
        (("gfx1030",), "10.3.0", True),
        (("gfx1100",), "10.3.0", False),
        (("gfx1030",), "nonsense", False),
        ((), "", True),
    ],
)
def test_code_for_this_card(built_for: tuple[str, ...], override: str, usable: bool, tmp_path: Path) -> None:
    build_sysroot("rx7900xtx", tmp_path)
    (found,) = without_code([rocm()], built_for, tmp_path, {"HSA_OVERRIDE_GFX_VERSION": override})
    assert found.info.usable is usable
    assert (found.info.reason is None) is usable
    assert found.handle == 1


def test_what_is_not_known_is_not_refused(tmp_path: Path) -> None:
    build_sysroot("rx7900xtx", tmp_path)
    devices = [rocm(pci=None), rocm(pci="0000:77:00.0"), rocm(backend="Vulkan")]
    assert without_code(devices, ["gfx906"], tmp_path, {}) == devices


def test_the_reason_names_both(tmp_path: Path) -> None:
    build_sysroot("rx7900xtx", tmp_path)
    (found,) = without_code([rocm()], ["gfx1030", "gfx906"], tmp_path, {})
    assert found.info.reason == (
        "The ROCm plugin has code for gfx1030, gfx906; this card is gfx1100. Build it for that too."
    )
