"""Recorded machines with each single file spoilt: one value is unknown, all others stay."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.memory.records import MemorySnapshot
from engine.memory.sensors import Sensors
from tests.engine.memory.conftest import sample
from tests.fakes.sysroot import FOLDER, parse

Machine = Callable[[str], Path]
TREES = ("steam_deck", "rx7900xtx", "laptop_sleeping_dgpu", "cards/steam_deck_oled", "cards/rx9070xt")


def remove(path: Path) -> None:
    path.unlink()


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def fill(garbage: bytes) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.write_bytes(garbage)

    return spoil


SPOILS = {
    "removed": remove,
    "folder": make_folder,
    "text": fill(b"N/A\n"),
    "empty": fill(b""),
    "minus": fill(b"-1\n"),
    "huge": fill(b"18446744073709551615\n"),
    "binary": fill(b"\xff\xfe\0\x80" * 9),
}

SENSORS = set(Sensors.__struct_fields__)
AFFECTS = {
    "mem_info_vram_total": {"vram.total", "room", "vram.used"},
    "mem_info_vram_used": {"vram.used", "room"},
    "mem_info_gtt_total": {"gtt.total", "room"},
    "mem_info_gtt_used": {"gtt.used", "room"},
    "mem_info_vis_vram_total": {"visible_vram.total", "visible_vram.used"},
    "mem_info_vis_vram_used": {"visible_vram.used"},
    "gpu_busy_percent": {"busy_percent"},
    "mem_busy_percent": {"memory_busy_percent"},
    "freq1_input": {"core_mhz"},
    "freq2_input": {"memory_mhz"},
    "pp_dpm_mclk": {"memory_mhz"},
    "power1_average": {"power_w"},
    "power1_cap": {"power_cap_w"},
    "temp1_input": {"temperature_c"},
    "temp2_input": {"junction_c"},
    "temp3_input": {"memory_c"},
    "fan1_input": {"fan_rpm"},
    "device": {"name", "gfx", "kind", "bandwidth"},
    "revision": {"name", "bandwidth"},
    "properties": {"gfx", "compute_units", "bandwidth", "processes", "worker.gpus"},
    "runtime_status": {"asleep", *SENSORS},
    "mm_stat": {"ram.zram"},
    "meminfo": {"room", "ram.total", "ram.available", "ram.swap_total", "ram.swap_free"},
    "comm": {"processes"},
}
"""Name of a file -> the only values that may differ when it is spoilt. ``room`` and the name follow from others."""


def allowed(path: str) -> set[str]:
    if "/fdinfo/" in path:
        return {"processes", "worker.gpus"}
    if "/power_supply/" in path:
        return {"battery"}
    if path.endswith("/status"):
        return {"worker.ram", "worker.mapped"}
    if path.endswith("proc/pressure/memory"):
        return {"ram.stall"}
    if path.endswith("/stat"):
        return {"processes"}
    return AFFECTS.get(path.rpartition("/")[2], set())


def flat(snapshot: MemorySnapshot) -> dict[str, Any]:
    """Every value by a name, prefixed with the card's address or what it belongs to."""
    values: dict[str, Any] = {}
    for gpu in msgspec.to_builtins(snapshot.gpus):
        for key, value in gpu.items():
            parts = value.items() if key in ("vram", "gtt", "visible_vram") else [("", value)]
            values.update({f"{gpu['pci']} {key}{'.' if part else ''}{part}": item for part, item in parts})
    values.update({f"host ram.{key}": value for key, value in msgspec.to_builtins(snapshot.ram).items()})
    values["host battery"] = msgspec.to_builtins(snapshot.battery)
    if snapshot.worker is not None:
        values.update({f"worker worker.{key}": v for key, v in msgspec.to_builtins(snapshot.worker).items()})
    return values


def spoilable() -> list[tuple[str, str]]:
    found = []
    for name in TREES:
        entries = parse((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))
        found += [(name, entry.path) for entry in entries if entry.link is None]
    return found


def test_the_walk_sees_the_files() -> None:
    assert len(spoilable()) > 120


@pytest.mark.parametrize("name", [*TREES[:2], *(pytest.param(name, marks=pytest.mark.slow) for name in TREES[2:])])
def test_one_spoilt_file_makes_one_value_unknown(machine: Machine, name: str) -> None:
    root = machine(name)
    before = flat(sample(root))
    problems = []
    for tree, path in spoilable():
        if tree != name:
            continue
        spoilt = root / path
        original = spoilt.read_bytes()
        for kind, spoil in SPOILS.items():
            spoil(spoilt)
            after = flat(sample(root))
            changed = {key.split(" ", 1)[1] for key in before if after.get(key, "gone") != before[key]}
            problems += [f"{kind} {path}: {key} changed" for key in changed - allowed(path)]
            if after.keys() != before.keys():
                problems.append(f"{kind} {path}: {before.keys() ^ after.keys()}")
            if not path.endswith("runtime_status"):  # a card that cannot sleep has true figures
                problems += [f"{kind} {path}: {key} is 0" for key in changed if is_false_zero(key, before, after)]
            shutil.rmtree(spoilt) if spoilt.is_dir() else spoilt.unlink(missing_ok=True)
            spoilt.write_bytes(original)
    assert not problems, "\n".join(problems)
    assert flat(sample(root)) == before


def is_false_zero(key: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    return any(after.get(full) == 0 and before[full] != 0 for full in before if full.endswith(" " + key))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(
    ("file", "value"),
    [("mem_info_vram_used", "vram.used"), ("mem_info_gtt_used", "gtt.used"), ("gpu_busy_percent", "busy_percent")],
)
def test_a_spoilt_file_really_makes_its_value_unknown(machine: Machine, name: str, file: str, value: str) -> None:
    root = machine(name)
    pci = "0000:64:00.0" if name.startswith("laptop") else sample(root).gpus[0].pci
    card = next(path for path in root.glob("sys/class/drm/card?") if pci in str(path.resolve()))
    (card / "device" / file).write_text("65535x\n")
    assert flat(sample(root))[f"{pci} {value}"] is None


@pytest.mark.parametrize(("file", "value"), [("vram", "vram.used"), ("gtt", "gtt.used")])
def test_more_used_than_there_is_cannot_be(machine: Machine, file: str, value: str) -> None:
    root = machine("rx7900xtx")
    before = flat(sample(root))
    (root / f"sys/class/drm/card1/device/mem_info_{file}_used").write_text("25753026561\n")
    after = flat(sample(root))
    assert after[f"0000:03:00.0 {value}"] is None
    assert after[f"0000:03:00.0 {file}.total"] == before[f"0000:03:00.0 {file}.total"]


def test_power_comes_from_the_other_file_when_one_is_missing(machine: Machine) -> None:
    root = machine("steam_deck")
    (hwmon,) = root.glob("sys/class/drm/card0/device/hwmon/hwmon*")
    (hwmon / "power1_average").unlink()
    assert sample(root).gpus[0].power_w == 4.057
    (hwmon / "power1_input").write_text("garbage\n")
    assert sample(root).gpus[0].power_w is None
