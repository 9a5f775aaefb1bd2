"""Cases 80 and 92, names, kinds and room."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.memory import names
from engine.memory.records import GoneGpu, Pool, RamMemory
from engine.memory.room import room
from engine.memory.sampler import MemorySampler
from engine.memory.sizes import GIB
from engine.protocol.types import DeviceKind
from tests.engine.memory.conftest import sample
from tests.fakes.sysroot import Entry, write

Machine = Callable[[str], Path]
MIB = 1 << 20


def add_card(root: Path, number: int, pci: str, **files: object) -> Path:
    """A bare card at ``pci``; ``files`` replace or, as None, leave out."""
    device = root / "sys/devices/pci0000:00" / pci
    contents: dict[str, object] = {
        "vendor": "0x1002", "device": "0x73bf", "revision": "0xc0", "uevent": f"DRIVER=amdgpu\nPCI_SLOT_NAME={pci}",
        "mem_info_vram_total": 256 * MIB, "mem_info_vram_used": 200 * MIB,
        "mem_info_gtt_total": 8 * GIB, "mem_info_gtt_used": GIB, "gpu_busy_percent": 7,
    }  # fmt: skip
    for name, value in {**contents, **files}.items():
        if value is not None:
            write(device, Entry(name, f"{value}\n"))
    write(root, Entry(f"sys/class/drm/card{number}/device", link=f"../../../devices/pci0000:00/{pci}"))
    return device


def test_there_is_no_card0(tmp_path: Path) -> None:
    add_card(tmp_path, 1, "0000:04:00.0")
    (gpu,) = sample(tmp_path).gpus
    assert (gpu.pci, gpu.vram, gpu.gtt) == (
        "0000:04:00.0", Pool(256 * MIB, 200 * MIB), Pool(8 * GIB, GIB),
    )  # fmt: skip
    assert gpu.busy_percent == 7


def test_connectors_and_render_nodes_are_no_cards(tmp_path: Path) -> None:
    add_card(tmp_path, 3, "0000:04:00.0")
    for name in ("card3-DP-1", "renderD128", "version", "cardX", "card"):
        (tmp_path / "sys/class/drm" / name).mkdir()
    assert len(sample(tmp_path).gpus) == 1


def test_other_vendors_are_left_out(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:00:02.0", vendor="0x8086", uevent="DRIVER=i915")
    add_card(tmp_path, 1, "0000:01:00.0", vendor="0x10de", uevent="DRIVER=nvidia")
    add_card(tmp_path, 2, "0000:03:00.0", vendor=None)
    add_card(tmp_path, 10, "0000:07:00.0", uevent=None)
    assert [gpu.pci for gpu in sample(tmp_path).gpus] == ["0000:03:00.0", "0000:07:00.0"]


def test_the_address_comes_from_the_driver_where_the_folder_is_no_link(tmp_path: Path) -> None:
    device = add_card(tmp_path, 1, "0000:04:00.0")
    link = tmp_path / "sys/class/drm/card1/device"
    link.unlink()
    shutil.copytree(device, link)
    assert [gpu.pci for gpu in sample(tmp_path).gpus] == ["0000:04:00.0"]


def test_a_card_goes_and_comes_back_under_another_number(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0")
    device = add_card(tmp_path, 1, "0000:08:00.0", mem_info_vram_total=16 * GIB)
    sampler = MemorySampler(tmp_path)
    first = sampler.sample()
    assert [gpu.pci for gpu in first.gpus] == ["0000:03:00.0", "0000:08:00.0"]
    assert first.gone == ()

    shutil.rmtree(tmp_path / "sys/class/drm/card1")
    shutil.rmtree(device)
    second = sampler.sample()
    assert [gpu.pci for gpu in second.gpus] == ["0000:03:00.0"]
    assert second.gone == (GoneGpu("0000:08:00.0", "AMD Radeon RX 6900 XT"),)

    add_card(tmp_path, 2, "0000:08:00.0", mem_info_vram_total=16 * GIB, mem_info_vram_used=GIB)
    third = sampler.sample()
    assert third.gone == ()
    back = third.gpu("0000:08:00.0")
    assert back is not None
    assert back.vram == Pool(16 * GIB, GIB)


def test_memory_that_moves_between_vram_and_gtt_is_just_shown(tmp_path: Path) -> None:
    device = add_card(tmp_path, 0, "0000:03:00.0", mem_info_vram_total=8 * GIB)
    sampler = MemorySampler(tmp_path)
    sampler.sample()
    (device / "mem_info_vram_used").write_text(f"{GIB}\n")
    (device / "mem_info_gtt_used").write_text(f"{200 * MIB}\n")
    (gpu,) = sampler.sample().gpus
    assert (gpu.vram.used, gpu.gtt.used) == (GIB, 200 * MIB)


def test_another_card_in_the_same_place_is_another_card(tmp_path: Path) -> None:
    device = add_card(tmp_path, 1, "0000:08:00.0")
    sampler = MemorySampler(tmp_path)
    sampler.sample()
    link = tmp_path / "sys/class/drm/card1"
    shutil.rmtree(link)
    sampler.sample()
    (device / "device").write_text("0x744c\n")
    (device / "revision").write_text("0xc8\n")
    write(tmp_path, Entry("sys/class/drm/card1/device", link="../../../devices/pci0000:00/0000:08:00.0"))
    assert [gpu.name for gpu in sampler.sample().gpus] == ["AMD Radeon RX 7900 XTX"]


# --- names and kinds -----------------------------------------------------------------------------


def test_the_table_is_sound() -> None:
    table = names.load()
    assert len(table) > 40
    assert all(product.gfx.startswith("gfx") and product.name for product in table.values())
    assert {product.kind for product in table.values()} == {DeviceKind.GPU, DeviceKind.IGPU}


@pytest.mark.parametrize(
    ("device", "revision", "name"),
    [
        (0x744C, 0xC8, "AMD Radeon RX 7900 XTX"),
        (0x744C, 0xCC, "AMD Radeon RX 7900 XT"),
        (0x744C, 0xCE, "AMD Radeon RX 7900 GRE"),
        (0x744C, 0x01, "AMD Radeon RX 7900 series"),
        (0x744C, None, "AMD Radeon RX 7900 series"),
        (0x15BF, 0xDD, "AMD Radeon 780M Graphics"),
        (0x15BF, 0xC3, "AMD Radeon 760M Graphics"),
    ],
)
def test_names_need_the_revision(device: int, revision: int | None, name: str) -> None:
    assert names.load()[device].named(revision) == name


def test_an_unknown_card_is_called_by_its_id(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", device="0xabcd")
    add_card(tmp_path, 1, "0000:04:00.0", device="x", uevent="DRIVER=amdgpu\nPCI_ID=1002:99FF")
    add_card(tmp_path, 2, "0000:05:00.0", device=None)
    assert [gpu.name for gpu in sample(tmp_path).gpus] == ["AMD GPU 1002:ABCD", "AMD GPU 1002:99FF", "AMD GPU"]


@pytest.mark.parametrize(
    "lines", [["744C gpu"], ["zz gpu gfx1 name"], ["744C dog gfx1100 name"], ["744C gpu gfx1100 n", "  C8"]]
)
def test_a_broken_table_is_an_error(lines: list[str]) -> None:
    with pytest.raises(ValueError):
        names.parse(lines)


def test_without_the_table_there_are_figures_without_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(names.load, "__defaults__", (tmp_path / "gone.txt",))
    add_card(tmp_path, 0, "0000:03:00.0")
    (gpu,) = sample(tmp_path).gpus
    assert (gpu.name, gpu.vram.used) == ("AMD GPU 1002:73BF", 200 * MIB)
    assert len(caplog.records) == 1


UNSOLD = {"device": "0xabcd", "mem_info_vram_total": 2 * GIB, "mem_info_gtt_total": 16 * GIB}


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, DeviceKind.IGPU),
        ({"mem_info_vram_vendor": "samsung"}, DeviceKind.GPU),
        ({"board_info": "type : cem"}, DeviceKind.GPU),
        ({"mem_info_vram_total": 8 * GIB}, DeviceKind.GPU),
        ({"mem_info_gtt_total": 4 * GIB}, DeviceKind.GPU),
        ({"mem_info_vram_total": "garbage"}, None),
        ({"device": "0x1586", "mem_info_vram_total": 96 * GIB}, DeviceKind.IGPU),
        ({"device": "0x743f", "mem_info_vram_total": 4 * GIB}, DeviceKind.GPU),
    ],
)
def test_which_cards_share_the_ram(tmp_path: Path, changes: dict[str, object], kind: DeviceKind | None) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", **{**UNSOLD, **changes})
    assert sample(tmp_path).gpus[0].kind is kind


def test_a_compute_node_with_cpu_cores_shares_the_ram(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", device="0xabcd", mem_info_vram_total=64 * GIB)
    rows = "cpu_cores_count 16\nsimd_count 80\nlocation_id 768\ndomain 0\ngfx_target_version 110501\n"
    write(tmp_path, Entry("sys/class/kfd/kfd/topology/nodes/0/properties", rows))
    (gpu,) = sample(tmp_path).gpus
    assert (gpu.kind, gpu.gfx) == (DeviceKind.IGPU, "gfx1151")


def test_the_topology_is_read_again_when_it_changed(tmp_path: Path) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", device="0xabcd")
    base = "sys/class/kfd/kfd/topology"
    rows = "simd_count 80\nlocation_id 768\ngfx_target_version {}\n"
    write(tmp_path, Entry(f"{base}/generation_id", "1\n"))
    write(tmp_path, Entry(f"{base}/nodes/1/properties", rows.format(110501)))
    sampler = MemorySampler(tmp_path)
    assert sampler.sample().gpus[0].gfx == "gfx1151"
    write(tmp_path, Entry(f"{base}/nodes/1/properties", rows.format(120001)))
    assert sampler.sample().gpus[0].gfx == "gfx1151"
    write(tmp_path, Entry(f"{base}/generation_id", "2\n"))
    assert sampler.sample().gpus[0].gfx == "gfx1201"


@pytest.mark.parametrize("device", ["0x15dd", "0x15d8", "0x13fe"])
def test_a_load_that_is_always_100_is_no_load(tmp_path: Path, device: str) -> None:
    add_card(tmp_path, 0, "0000:03:00.0", device=device, gpu_busy_percent=100)
    assert sample(tmp_path).gpus[0].busy_percent is None


# --- room ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "vram", "gtt", "available", "wanted"),
    [
        (DeviceKind.GPU, Pool(24 * GIB, 4 * GIB), Pool(), None, 19 * GIB),
        (DeviceKind.GPU, Pool(4 * GIB, 0), Pool(), None, 7 * GIB // 2),
        (DeviceKind.GPU, Pool(8 * GIB, 15 * GIB // 2), Pool(), None, 0),
        (DeviceKind.GPU, Pool(8 * GIB, None), Pool(), 9 * GIB, None),
        # case 85: a game has taken the RAM, so the free GTT is none
        (DeviceKind.IGPU, Pool(512 * MIB, 480 * MIB), Pool(8 * GIB, GIB), 3 * GIB // 2, 32 * MIB),
        (DeviceKind.IGPU, Pool(512 * MIB, 480 * MIB), Pool(8 * GIB, GIB), 10 * GIB, 7 * GIB + 32 * MIB),
        (DeviceKind.IGPU, Pool(512 * MIB, 480 * MIB), Pool(8 * GIB, GIB), 0, 32 * MIB),
        (DeviceKind.IGPU, Pool(512 * MIB, 480 * MIB), Pool(8 * GIB, GIB), None, None),
        (DeviceKind.IGPU, Pool(512 * MIB, 480 * MIB), Pool(8 * GIB, None), 4 * GIB, None),
        (DeviceKind.IGPU, Pool(96 * GIB, GIB), Pool(15 * GIB, 0), 28 * GIB, 110 * GIB),
        (None, Pool(8 * GIB, 0), Pool(8 * GIB, 0), 8 * GIB, None),
    ],
)
def test_room(kind: DeviceKind | None, vram: Pool, gtt: Pool, available: int | None, wanted: int | None) -> None:
    assert room(kind, vram, gtt, RamMemory(total=16 * GIB, available=available)) == wanted
