"""The recorded machines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from engine.memory.document import as_json
from engine.protocol.types import DeviceKind
from tests.engine.memory.conftest import sample
from tests.fakes.sysroot import machines

GIB, MIB, KIB = 1 << 30, 1 << 20, 1 << 10
Machine = Callable[[str], Path]


def test_steam_deck(machine: Machine) -> None:
    snapshot = sample(machine("steam_deck"))
    (gpu,) = snapshot.gpus
    assert (gpu.pci, gpu.name, gpu.gfx) == ("0000:04:00.0", "AMD Custom GPU 0405", "gfx1033")
    assert gpu.kind is DeviceKind.IGPU
    assert gpu.asleep is False
    assert (gpu.vram.total, gpu.vram.used) == (GIB, 945815552)
    assert (gpu.gtt.total, gpu.gtt.used) == (8 * GIB, 3382706176)
    assert (gpu.busy_percent, gpu.power_w, gpu.temperature_c) == (37, 3.218, 56.0)
    ram = snapshot.ram
    assert (ram.total, ram.available) == (15188720 * KIB, 6213640 * KIB)
    assert (ram.swap_total, ram.swap_free) == (8642848 * KIB, 8401184 * KIB)
    assert gpu.room == GIB - 945815552 + 6213640 * KIB - 3 * GIB // 2


def test_the_worker_counts_each_client_once_in_both_memories(machine: Machine) -> None:
    worker = sample(machine("steam_deck")).worker
    assert worker is not None
    (share,) = worker.gpus
    assert share.vram == 128 * MIB
    assert share.gtt == 2252 * MIB
    assert share.evicted == 0
    assert (worker.ram, worker.mapped) == (322560 * KIB, 78656 * KIB)
    assert worker.on("0000:04:00.0") == share
    assert worker.on("0000:03:00.0") is None


def test_processes_of_the_deck_by_size(machine: Machine) -> None:
    (gpu,) = sample(machine("steam_deck")).gpus
    assert [(p.pid, p.name, p.vram, p.gtt) for p in gpu.processes] == [
        (4242, "python3", 128 * MIB, 2252 * MIB),
        (3900, "vkcube-wayland", 544428 * KIB, 22 * MIB),
        (1200, "kwin_wayland", 44564 * KIB, 2392 * KIB),
    ]


def test_rx7900xtx(machine: Machine) -> None:
    snapshot = sample(machine("rx7900xtx"))
    (gpu,) = snapshot.gpus
    assert (gpu.pci, gpu.name, gpu.gfx) == ("0000:03:00.0", "AMD Radeon RX 7900 XTX", "gfx1100")
    assert gpu.kind is DeviceKind.GPU
    assert (gpu.vram.total, gpu.vram.used) == (25753026560, 10307921510)
    assert (gpu.busy_percent, gpu.power_w, gpu.temperature_c) == (96, 211.0, 63.0)
    assert gpu.room == 25753026560 - 10307921510 - GIB
    assert [(p.pid, p.vram) for p in gpu.processes] == [
        (4242, 6815744 * KIB),
        (2100, 1153434 * KIB),
        (1500, 421888 * KIB),
    ]
    assert (snapshot.ram.swap_total, snapshot.ram.swap_free) == (0, 0)


def test_laptop_the_sleeping_card_shows_its_memory_and_nothing_else(machine: Machine) -> None:
    dgpu, apu = sample(machine("laptop_sleeping_dgpu")).gpus
    assert (dgpu.pci, dgpu.name, dgpu.kind) == ("0000:03:00.0", "AMD Radeon RX 7600S", DeviceKind.GPU)
    assert dgpu.asleep is True
    assert (dgpu.vram.total, dgpu.vram.used) == (8573157376, 26214400)
    assert (dgpu.busy_percent, dgpu.power_w, dgpu.temperature_c) == (None, None, None)
    assert (apu.pci, apu.name, apu.kind) == ("0000:64:00.0", "AMD Radeon 780M Graphics", DeviceKind.IGPU)
    assert apu.asleep is False
    assert (apu.busy_percent, apu.temperature_c) == (4, 45.0)
    assert [p.vram for p in apu.processes] == [310488 * KIB]


def test_the_small_graphics_of_a_ryzen_is_not_the_card(machine: Machine) -> None:
    card, small = sample(machine("raphael_rx7800xt")).gpus
    assert (card.name, card.kind, card.gfx) == ("AMD Radeon RX 7800 XT", DeviceKind.GPU, "gfx1101")
    assert (small.name, small.kind, small.gfx) == ("AMD Radeon 610M", DeviceKind.IGPU, "gfx1036")
    assert [(p.name, p.vram, p.gtt) for p in card.processes] == [("Xorg", 256 * MIB, 20 * MIB)]


def test_a_large_carve_out_is_room_although_the_ram_is_smaller(machine: Machine) -> None:
    (gpu,) = sample(machine("strix_halo")).gpus
    assert (gpu.name, gpu.kind, gpu.gfx) == ("AMD Radeon 8060S Graphics", DeviceKind.IGPU, "gfx1151")
    assert gpu.room == (68719476736 - 26766221312) + (33520500736 - 122327040)


def test_no_gpu(machine: Machine) -> None:
    snapshot = sample(machine("no_gpu"))
    assert snapshot.gpus == ()
    assert snapshot.ram.total == 8130032 * KIB


def test_nothing_at_all(tmp_path: Path) -> None:
    snapshot = sample(tmp_path)
    assert snapshot.gpus == ()
    assert set(msgspec.to_builtins(snapshot.ram).values()) == {None}


@pytest.mark.parametrize("name", machines())
def test_the_json_has_the_promised_keys(machine: Machine, name: str) -> None:
    document = msgspec.json.decode(msgspec.json.encode(as_json(sample(machine(name)))))
    assert set(document) >= {"gpus", "ram"}
    assert set(document["ram"]) >= {"total", "available", "swap_total", "swap_free"}
    for gpu in document["gpus"]:
        assert set(gpu) >= {
            "pci", "name", "gfx", "kind", "asleep", "vram", "gtt", "room",
            "busy_percent", "power_w", "temperature_c", "processes",
        }  # fmt: skip
        assert set(gpu["vram"]) == set(gpu["gtt"]) == set(gpu["visible_vram"]) == {"total", "used"}
        for process in gpu["processes"]:
            assert set(process) >= {"pid", "name", "vram", "gtt"}
