"""Names and kinds of devices by what the kernel knows of their cards."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.backends.devices import Device
from engine.backends.joined import join_cards
from engine.protocol.types import DeviceInfo, DeviceKind
from tests.fakes.sysroot import build_sysroot


def device(pci: str | None, name: str, kind: DeviceKind = DeviceKind.GPU, backend: str = "Vulkan") -> Device:
    info = DeviceInfo(
        id=f"{backend}0",
        backend=backend,
        name=name,
        pci=pci,
        kind=kind,
        memory_total=8,
        memory_free=4,
        usable=True,
    )
    return Device(info, 7)


@pytest.mark.parametrize(
    ("machine", "pci", "said", "name", "kind"),
    [
        ("rx7900xtx", "0000:03:00.0", "AMD Radeon RX 7900 XTX (RADV NAVI31)", "AMD Radeon RX 7900 XTX", "gpu"),
        ("rx7900xtx", "0000:03:00.0", "AMD Radeon Graphics", "AMD Radeon RX 7900 XTX", "gpu"),
        ("steam_deck", "0000:04:00.0", "AMD Custom GPU 0405 (RADV VANGOGH)", "AMD Custom GPU 0405", "igpu"),
        ("strix_halo", "0000:c5:00.0", "AMD Radeon Graphics", "AMD Radeon 8060S Graphics", "igpu"),
    ],
)
def test_the_product_by_the_kernels_numbers(
    machine: str, pci: str, said: str, name: str, kind: str, tmp_path: Path
) -> None:
    build_sysroot(machine, tmp_path)
    (found,) = join_cards([device(pci, said)], tmp_path)
    assert (found.info.name, found.info.kind, found.handle) == (name, DeviceKind(kind), 7)
    assert (found.info.memory_total, found.info.pci) == (8, pci)


def test_both_backends_call_a_card_the_same(tmp_path: Path) -> None:
    build_sysroot("rx7900xtx", tmp_path)
    card = "0000:03:00.0"
    found = join_cards(
        [device(card, "AMD Radeon RX 7900 XTX (RADV NAVI31)"), device(card, "gfx1100", backend="ROCm")], tmp_path
    )
    assert len({joined.info.name for joined in found}) == 1


def test_a_card_that_is_not_in_the_table_keeps_its_name(tmp_path: Path) -> None:
    build_sysroot("rx7900xtx", tmp_path)
    path = next(path for path in (tmp_path / "sys").rglob("device") if path.is_file() and "03:00.0" in str(path))
    path.write_text("0xFFFE\n")
    (found,) = join_cards([device("0000:03:00.0", "AMD Radeon RX 9999")], tmp_path)
    assert (found.info.name, found.info.kind) == ("AMD Radeon RX 9999", DeviceKind.GPU)


def test_what_the_kernel_does_not_list_stays_as_it_is(tmp_path: Path) -> None:
    build_sysroot("rx7900xtx", tmp_path)
    others = [
        device("0000:99:00.0", "NVIDIA H200"),
        device(None, "llvmpipe", DeviceKind.SOFTWARE),
        device(None, "Processor", DeviceKind.CPU, "CPU"),
    ]
    assert join_cards(others, tmp_path) == others
