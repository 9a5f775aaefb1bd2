"""Recorded cards, one tree each: what is said of them has to be right, figure for figure."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.memory.records import Battery, GoneGpu, ProcessMemory, Stall, Zram
from engine.memory.sampler import MemorySampler
from tests.engine.memory.conftest import sample
from tests.engine.memory.verdicts import VERDICTS, said
from tests.fakes.sysroot import build_sysroot, cards, machines

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
Machine = Callable[[str], Path]


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
