"""Recorded cards, one tree each: what is said of them has to be right, figure for figure."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.memory.records import Battery, GoneGpu, GpuMemory, ProcessMemory, Stall, Zram
from engine.memory.sampler import MemorySampler
from engine.protocol.types import DeviceKind
from tests.engine.memory.conftest import sample
from tests.fakes.sysroot import build_sysroot, cards, machines

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
Machine = Callable[[str], Path]
IGPU, GPU = DeviceKind.IGPU, DeviceKind.GPU


@dataclass(frozen=True)
class Verdict:
    """What has to be said of a card: ``room`` in GiB, ``bandwidth`` in GB/s, degrees of edge, junction and memory."""

    pci: str
    name: str
    kind: DeviceKind
    gfx: str | None
    room: float | None
    bandwidth: float | None = None
    units: int | None = None
    rebar: bool | None = True
    busy: tuple[int | None, int | None] = (0, None)
    clocks: tuple[int | None, int | None] = (None, None)
    power: tuple[float | None, float | None] = (None, None)
    temperatures: tuple[float | None, float | None, float | None] = (None, None, None)
    fan: int | None = None


VERDICTS = {
    "cards/steam_deck_oled": [
        Verdict(
            "0000:04:00.0", "AMD Custom GPU 0932", IGPU, "gfx1033", 0.06, 102, 8,
            busy=(98, None), clocks=(1600, 800), power=(14.1, 15.0), temperatures=(74, None, None),
        )
    ],
    "cards/phoenix": [
        Verdict(
            "0000:64:00.0", "AMD Radeon 780M Graphics", IGPU, "gfx1103", 31.89, 102.4, 12,
            clocks=(800, 400), power=(3.103, None), temperatures=(25, None, None),
        )
    ],
    "cards/strix_point": [
        Verdict(
            "0000:c1:00.0", "AMD Radeon 880M Graphics", IGPU, "gfx1150", 11.66, 128, 12,
            busy=(3, None), clocks=(848, None), power=(9.087, None), temperatures=(38, None, None),
        )
    ],
    "strix_halo_raised": [
        Verdict(
            "0000:c5:00.0", "AMD Radeon 8060S Graphics", IGPU, "gfx1151", 108.27, 256,
            power=(9.1, None), temperatures=(38, None, None),
        )
    ],
    "strix_halo": [
        Verdict(
            "0000:c5:00.0", "AMD Radeon 8060S Graphics", IGPU, "gfx1151", 70.18, 256, rebar=None,
            busy=(99, None), power=(84.1, None), temperatures=(66, None, None),
        )
    ],
    "cards/strix_halo_96": [
        Verdict(
            "0000:c5:00.0", "AMD Radeon 8060S Graphics", IGPU, "gfx1151", 120.12, 256, 40,
            clocks=(600, None), power=(9.1, None), temperatures=(38, None, None),
        )
    ],
    "cards/rx9070xt": [
        Verdict(
            "0000:0f:00.0", "AMD Radeon RX 9070 XT", GPU, "gfx1201", 0.0, 644.1, 64,
            busy=(97, 61), clocks=(2167, 1258), power=(298, 304), temperatures=(62, 85, 88), fan=896,
        )
    ],
    "cards/rx6900xt": [
        Verdict(
            "0000:0c:00.0", "AMD Radeon RX 6900 XT", GPU, "gfx1030", 14.36, 512, 80,
            busy=(3, 0), clocks=(500, 1000), power=(36, 289), temperatures=(56, 59, 54), fan=0,
        )
    ],
    "cards/rx580": [
        Verdict(
            "0000:09:00.0", "AMD Radeon RX 580", GPU, "gfx803", 3.0, 256, 36, rebar=False,
            busy=(11, 2), clocks=(798, 1750), power=(41.045, 155), temperatures=(44, None, None),
        )
    ],
    "cards/vega56": [
        Verdict(
            "0000:0b:00.0", "AMD Radeon RX Vega", GPU, "gfx900", 6.97, 409.6, 56, rebar=False,
            clocks=(26, 167), power=(8, 260), temperatures=(38, 38, 39),
        )
    ],
    "cards/two_equal_cards": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 10.98, 959.2, 96,
            busy=(91, 45), clocks=(2219, 1249), power=(211, 290), temperatures=(63, 81, 78), fan=1200,
        ),
        Verdict(
            "0000:43:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 13.98, 959.2, 96,
            busy=(88, 44), clocks=(2219, 1249), power=(211, 290), temperatures=(63, 81, 78), fan=1200,
        ),
    ],
    "cards/old_kernel": [
        Verdict(
            "0000:0a:00.0", "AMD Radeon RX 5700 XT", GPU, "gfx1010", 5.99, 448, 40, rebar=None,
            busy=(7, None), clocks=(800, 875), power=(31, 220), temperatures=(51, 55, 60),
        )
    ],
    "cards/intel_nvidia_amd": [
        Verdict(
            "0000:09:00.0", "AMD Radeon RX 6600", GPU, "gfx1032", 4.99, 224, 28,
            busy=(12, 4), clocks=(1500, 875), power=(28, 100), temperatures=(47, 49, 52), fan=900,
        )
    ],
    "cards/rocm_worker": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XT", GPU, "gfx1100", 5.08, 799.4, 84,
            busy=(71, None), power=(180, None), temperatures=(60, None, None),
        )
    ],
    "raphael_rx7800xt": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7800 XT", GPU, "gfx1101", 13.19, 624, rebar=False,
            busy=(11, None), power=(32, None), temperatures=(48, None, None),
        ),
        Verdict(
            "0000:0f:00.0", "AMD Radeon 610M", IGPU, "gfx1036", 15.76, None, rebar=None,
            power=(12, None), temperatures=(41, None, None),
        ),
    ],
    "steam_deck": [
        Verdict(
            "0000:04:00.0", "AMD Custom GPU 0405", IGPU, "gfx1033", 4.54, 88, 8,
            busy=(37, None), clocks=(200, 687), power=(3.218, 15), temperatures=(56, None, None),
        )
    ],
    "steam_deck_flatpak": [
        Verdict(
            "0000:04:00.0", "AMD Custom GPU 0932", IGPU, "gfx1033", 10.4, 102,
            busy=(3, None), power=(4.218, None), temperatures=(46, None, None),
        )
    ],
    "rx7900xtx": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 13.38, 960, 96,
            busy=(96, 41), clocks=(2219, 1249), power=(211, 290), temperatures=(63, 81, 78), fan=980,
        )
    ],
    "rx7900xtx_without_rebar": [
        Verdict(
            "0000:03:00.0", "AMD Radeon RX 7900 XTX", GPU, "gfx1100", 21.77, 960, 96, rebar=False,
            busy=(2, 0), power=(31, None), temperatures=(44, None, None),
        )
    ],
    "laptop_sleeping_dgpu": [
        Verdict("0000:03:00.0", "AMD Radeon RX 7600S", GPU, "gfx1102", 6.96, None, 32, busy=(None, None)),
        Verdict(
            "0000:64:00.0", "AMD Radeon 780M Graphics", IGPU, "gfx1103", 31.89, 102, 12,
            busy=(4, None), power=(3.103, None), temperatures=(45, None, None),
        ),
    ],
    "no_gpu": [],
}  # fmt: skip


def said(gpu: GpuMemory) -> Verdict:
    visible = gpu.visible_vram.total
    return Verdict(
        pci=gpu.pci,
        name=gpu.name,
        kind=gpu.kind or DeviceKind.SOFTWARE,
        gfx=gpu.gfx,
        room=None if gpu.room is None else round(gpu.room / GIB, 2),
        bandwidth=None if gpu.bandwidth is None else round(gpu.bandwidth / 1e9, 1),
        units=gpu.compute_units,
        rebar=None if visible is None else visible == gpu.vram.total,
        busy=(gpu.busy_percent, gpu.memory_busy_percent),
        clocks=(gpu.core_mhz, gpu.memory_mhz),
        power=(gpu.power_w, gpu.power_cap_w),
        temperatures=(gpu.temperature_c, gpu.junction_c, gpu.memory_c),
        fan=gpu.fan_rpm,
    )


@pytest.mark.parametrize("name", sorted(VERDICTS))
def test_every_figure_of_a_recorded_machine(machine: Machine, name: str) -> None:
    assert [said(gpu) for gpu in sample(machine(name)).gpus] == VERDICTS[name]


def test_no_recorded_card_is_left_out() -> None:
    assert sorted(VERDICTS) == sorted(machines() + cards())


def test_the_deck_in_game_mode(machine: Machine) -> None:
    snapshot = sample(machine("cards/steam_deck_oled"))
    assert snapshot.ram.stall == Stall(some=14.52, full=6.11)
    assert snapshot.ram.zram == Zram(stored=2908749824, taken=812646400)
    assert snapshot.battery is not None
    assert (snapshot.battery.percent, snapshot.battery.discharging) == (41, True)
    assert snapshot.battery.watts == pytest.approx(17.815, abs=0.001)
    assert [(process.name, process.ours, process.vram, process.gtt) for process in snapshot.gpus[0].processes] == [
        ("game.exe", False, 544428 * KIB, 3 * GIB),
        ("python3", True, 256 * MIB, 2250 * MIB),
    ]


def test_two_batteries_weigh_by_their_size_and_a_mouse_is_none(machine: Machine) -> None:
    battery = sample(machine("cards/phoenix")).battery
    assert battery == Battery(percent=65, discharging=False, watts=12.5)
    assert sample(machine("cards/rx580")).battery is None


def test_a_game_pushed_the_model_out(machine: Machine) -> None:
    snapshot = sample(machine("cards/rx9070xt"))
    game, ours = snapshot.gpus[0].processes
    assert (game.name, game.vram, game.evicted) == ("eldenring.exe", 10 * GIB, 0)
    assert (ours.pid, ours.vram, ours.gtt, ours.evicted) == (4242, 4718592 * KIB, 4718592 * KIB, 4456448 * KIB)


def test_a_model_on_two_cards_is_told_for_each_by_its_address(machine: Machine) -> None:
    worker = sample(machine("cards/two_equal_cards")).worker
    assert worker is not None
    assert [(gpu.pci, gpu.vram) for gpu in worker.gpus] == [
        ("0000:03:00.0", 9338880 * KIB),
        ("0000:43:00.0", 9338880 * KIB),
    ]


def test_compute_memory_that_only_the_kfd_tells(machine: Machine) -> None:
    root = machine("cards/rocm_worker")
    snapshot = MemorySampler(root, clock=lambda: 0.0, own=4200).sample(4242, whole=True)
    assert snapshot.gpus[0].processes == (
        ProcessMemory(pid=4242, name="python3", vram=8 * GIB, gtt=200 * MIB, ours=True),
        ProcessMemory(pid=5151, name="train", vram=4 * GIB),
        ProcessMemory(pid=4200, name="vramble", vram=64 * MIB, ours=True),
    )
    assert snapshot.worker is not None
    assert snapshot.worker.gpus[0].vram == 8 * GIB
    elsewhere = MemorySampler(root, clock=lambda: 0.0, own=4200).sample(None, whole=True)
    assert [process.ours for process in elsewhere.gpus[0].processes] == [True, False, True], "a child is ours"


def test_in_a_sandbox_the_kfds_process_ids_are_not_ours(machine: Machine) -> None:
    root = machine("cards/rocm_worker")
    (root / ".flatpak-info").write_text("[Application]\n")
    snapshot = sample(root)
    assert snapshot.sandboxed
    assert [(process.pid, process.vram) for process in snapshot.gpus[0].processes] == [(4242, MIB), (4200, 64 * MIB)]


def test_other_vendors_are_left_alone(machine: Machine) -> None:
    root = machine("cards/intel_nvidia_amd")
    snapshot = sample(root)
    assert [gpu.pci for gpu in snapshot.gpus] == ["0000:09:00.0"]
    assert [(process.name, process.vram) for process in snapshot.gpus[0].processes] == [("gnome-shell", 256 * MIB)]


def test_a_card_goes_and_comes_back_under_another_number(tmp_path: Path) -> None:
    """Case 92, with files that stay open in between."""
    root = build_sysroot("cards/rx6900xt", tmp_path / "eGPU")
    sampler = MemorySampler(root, own=0)
    (card,) = sampler.sample(whole=True).gpus
    assert card.power_w == 36.0
    folder = root / "sys/devices/pci0000:00/0000:00:01.1/0000:0c:00.0"
    away = shutil.move(folder, tmp_path / "away")
    (root / "sys/class/drm/card0").unlink()
    for _ in range(3):
        snapshot = sampler.sample()
        assert snapshot.gpus == ()
        assert snapshot.gone == (GoneGpu("0000:0c:00.0", "AMD Radeon RX 6900 XT"),)
    shutil.copytree(away, folder, symlinks=True)
    (folder / "drm/card0").rename(folder / "drm/card2")
    (root / "sys/class/drm/card2").symlink_to("../../devices/pci0000:00/0000:00:01.1/0000:0c:00.0/drm/card2")
    (folder / "mem_info_vram_used").write_text("700000000\n")
    (folder / "hwmon/hwmon5/power1_average").write_text("41000000\n")
    snapshot = sampler.sample()
    (back,) = snapshot.gpus
    assert (back.pci, back.vram.used, back.power_w, snapshot.gone) == ("0000:0c:00.0", 700000000, 41.0, ())
    vram, gtt = back.vram.used, back.gtt.used
    (folder / "mem_info_vram_used").write_text(f"{gtt}\n")
    (folder / "mem_info_gtt_used").write_text(f"{vram}\n")
    (jumped,) = sampler.sample().gpus
    assert (jumped.vram.used, jumped.gtt.used) == (gtt, vram), "a jump is just told"


@pytest.mark.parametrize("wanted", [("1.5", False), ("10", True)])
def test_gtt_that_the_ram_cannot_give_is_no_room(machine: Machine, wanted: tuple[str, bool]) -> None:
    """Case 85: 7 GiB of GTT are free, but a game leaves 1.5 GiB of RAM; a model of 4 GiB does not fit then."""
    available, fits = wanted
    root = machine("cards/strix_point")
    card = root / "sys/class/drm/card1/device"
    for name, size in (("vram_total", 512), ("vram_used", 480), ("gtt_total", 8 << 10), ("gtt_used", 1 << 10)):
        (card / f"mem_info_{name}").write_text(f"{size * MIB}\n")
    kib = int(float(available) * GIB) // KIB
    (root / "proc/meminfo").write_text(f"MemTotal: {16 * GIB // KIB} kB\nMemAvailable: {kib} kB\n")
    room = sample(root).gpus[0].room
    assert room is not None
    assert (room >= 4 * GIB) is fits
