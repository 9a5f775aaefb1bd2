"""``vramble memory``: the figures of the memory strip, for a terminal or a script."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

import msgspec

from engine.memory.document import as_json
from engine.memory.records import Battery, GpuMemory, MemorySnapshot, Pool, Program, RamMemory
from engine.memory.sampler import MemorySampler
from engine.memory.sizes import gib_number
from engine.memory.tree import sysroot

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

UNKNOWN = "unknown"
LISTED_PROCESSES = 8


def add_parser(subparsers: Subparsers) -> None:
    """Add the command. Its ``func`` takes the parsed arguments and returns the exit code."""
    parser = subparsers.add_parser("memory", help="show GPU and system memory")
    parser.add_argument("--watch", action="store_true", help="again every second, until Ctrl+C")
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line with --watch")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace, out: TextIO | None = None, pause: Callable[[float], None] = time.sleep) -> int:
    """Print the figures once, or every second until Ctrl+C."""
    stream = sys.stdout if out is None else out
    sampler = MemorySampler(sysroot())
    first = True
    try:
        while True:
            print(_shown(sampler.sample(whole=first), arguments), file=stream, flush=True)
            if not arguments.watch:
                return 0
            first = False
            pause(1.0)
            if not arguments.json:
                print(file=stream)
    except KeyboardInterrupt:
        return 0


def _shown(snapshot: MemorySnapshot, arguments: argparse.Namespace) -> str:
    if not arguments.json:
        return table(snapshot)
    text = msgspec.json.encode(as_json(snapshot))
    return text.decode() if arguments.watch else msgspec.json.format(text, indent=2).decode()


def table(snapshot: MemorySnapshot) -> str:
    """The figures as aligned lines."""
    lines = []
    for gpu in snapshot.gpus:
        lines += [*_gpu_lines(gpu), ""]
    if not snapshot.gpus:
        lines += ["no GPU memory data", ""]
    lines += [*_ram_lines(snapshot.ram), *_program_lines(snapshot.programs), *_battery_lines(snapshot.battery)]
    return "\n".join(lines)


def gib(size: int | None) -> str:
    """GiB with one decimal, ``<0.1`` for what is little but not nothing, or ``unknown``."""
    return UNKNOWN if size is None else gib_number(size)


def _gpu_lines(gpu: GpuMemory) -> list[str]:
    units = f"{gpu.compute_units} CUs" if gpu.compute_units else ""
    speed = f"{gpu.bandwidth / 1e9:.0f} GB/s" if gpu.bandwidth else ""
    shared, asleep = "shares the RAM" if gpu.kind == "igpu" else "", "asleep" if gpu.asleep else ""
    traits = [gpu.pci, gpu.gfx or "", units, speed, shared, asleep]
    lines = [f"{gpu.name}  ({', '.join(trait for trait in traits if trait)})"]
    if gpu.vram == Pool() and gpu.gtt == Pool():
        lines.append("  no GPU memory data")
    else:
        lines += [_vram_line(gpu), _pool_line("GTT", gpu.gtt), _line("room", _sized(gpu.room))]
    return lines + _sensor_lines(gpu) + _process_lines(gpu)


def _vram_line(gpu: GpuMemory) -> str:
    """With the part that the processor sees, where that is not all of it (no resizable BAR)."""
    visible = gpu.visible_vram.total
    part = "" if visible in (None, gpu.vram.total) else f", {gib(visible)} GiB visible to the processor"
    return _pool_line("VRAM", gpu.vram) + part


def _sensor_lines(gpu: GpuMemory) -> list[str]:
    cap = "" if gpu.power_cap_w is None else f" of {round(gpu.power_cap_w)} W"
    figures = [
        ("busy", gpu.busy_percent, "%", _more(("memory", gpu.memory_busy_percent, "%"))),
        ("clock", gpu.core_mhz, "MHz", _more(("memory", gpu.memory_mhz, "MHz"))),
        ("power", gpu.power_w, "W", cap),
        ("edge", gpu.temperature_c, "°C", _more(("junction", gpu.junction_c, "°C"), ("memory", gpu.memory_c, "°C"))),
        ("fan", gpu.fan_rpm, "rpm", ""),
    ]
    return [_line(name, f"{round(value):>7} {unit}{more}") for name, value, unit, more in figures if value is not None]


def _more(*figures: tuple[str, float | None, str]) -> str:
    return "".join(f", {name} {round(value)} {unit}" for name, value, unit in figures if value is not None)


def _process_lines(gpu: GpuMemory) -> list[str]:
    if not gpu.processes:
        return []
    shown = gpu.processes[:LISTED_PROCESSES]
    width = max(len(p.name) for p in shown)
    out = any(p.evicted for p in shown)
    head, unit = f"  {'process':<{width + 10}}{'VRAM':>9}{'GTT':>9}", "  GiB"
    lines = [f"{head}{'evicted':>9}{unit}" if out else f"{head}{unit}"]
    for p in shown:
        evicted = f"{gib(p.evicted):>9}" if out else ""
        lines.append(f"  {p.pid:>8}  {p.name:<{width}}{gib(p.vram):>9}{gib(p.gtt):>9}{evicted}")
    if len(gpu.processes) > len(shown):
        lines.append(f"  and {len(gpu.processes) - len(shown)} more")
    return lines


def _ram_lines(ram: RamMemory) -> list[str]:
    lines = ["System memory", _pool_line("RAM", Pool(ram.total, ram.used))]
    if ram.swap_total != 0:
        lines.append(_pool_line("swap", Pool(ram.swap_total, ram.swap_used)))
    if ram.zram is not None and ram.zram.stored:
        lines.append(_line("zram", f"{gib(ram.zram.stored):>7} in {gib(ram.zram.taken):>5} GiB of RAM"))
    if ram.stall is not None and ram.stall.some is not None:
        lines.append(_line("wait", f"{ram.stall.some:>7.1f} % of ten seconds in which programs waited for memory"))
    return lines


def _program_lines(programs: Sequence[Program]) -> list[str]:
    """Memory that programs have for themselves."""
    shown = programs[:LISTED_PROCESSES]
    width = max((len(program.name) for program in shown), default=0) + 2
    head = [f"  {'program':<{width}}{'processes':>9}{'RAM':>9}  GiB"] if shown else []
    lines = [f"  {program.name:<{width}}{program.processes:>9}{gib(program.ram):>9}" for program in shown]
    more = [f"  and {len(programs) - len(shown)} more"] if len(programs) > len(shown) else []
    return [*head, *lines, *more]


def _battery_lines(battery: Battery | None) -> list[str]:
    if battery is None or battery.percent is None:
        return []
    watts = "" if battery.watts is None else f", {battery.watts:.1f} W"
    flow = {True: f" discharging{watts}", False: "", None: ""}[battery.discharging]
    return ["Battery", _line("charge", f"{battery.percent:>6} %{flow}")]


def _pool_line(name: str, pool: Pool) -> str:
    return _line(name, f"{gib(pool.used):>7} of {gib(pool.total):>5} GiB")


def _sized(size: int | None) -> str:
    return UNKNOWN if size is None else f"{gib(size):>7} GiB"


def _line(name: str, text: str) -> str:
    return f"  {name:<6}{text}"
