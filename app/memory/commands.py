"""``vramble memory``: the figures of the memory strip, for a terminal or a script."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

import msgspec

from engine.memory.records import GpuMemory, MemorySnapshot, Pool, RamMemory, as_json
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
    try:
        while True:
            print(_shown(sampler.sample(whole=True), arguments), file=stream, flush=True)
            if not arguments.watch:
                return 0
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
    return "\n".join(lines + _ram_lines(snapshot.ram))


def gib(size: int | None) -> str:
    """GiB with one decimal, ``<0.1`` for what is little but not nothing, or ``unknown``."""
    return UNKNOWN if size is None else gib_number(size)


def _gpu_lines(gpu: GpuMemory) -> list[str]:
    traits = [gpu.pci, gpu.gfx or "", "shares the RAM" if gpu.kind == "igpu" else "", "asleep" if gpu.asleep else ""]
    lines = [f"{gpu.name}  ({', '.join(trait for trait in traits if trait)})"]
    if gpu.vram == Pool() and gpu.gtt == Pool():
        lines.append("  no GPU memory data")
    else:
        lines += [_pool_line("VRAM", gpu.vram), _pool_line("GTT", gpu.gtt), _line("room", _sized(gpu.room))]
    figures = [
        ("busy", gpu.busy_percent, "%"),
        ("power", gpu.power_w, "W"),
        ("edge", gpu.temperature_c, "°C"),
    ]
    lines += [_line(name, f"{round(value):>7} {unit}") for name, value, unit in figures if value is not None]
    return lines + _process_lines(gpu)


def _process_lines(gpu: GpuMemory) -> list[str]:
    if not gpu.processes:
        return []
    shown = gpu.processes[:LISTED_PROCESSES]
    width = max(len(p.name) for p in shown)
    lines = [f"  {'process':<{width + 10}}{'VRAM':>9}{'GTT':>9}  GiB"]
    lines += [f"  {p.pid:>8}  {p.name:<{width}}{gib(p.vram):>9}{gib(p.gtt):>9}" for p in shown]
    if len(gpu.processes) > len(shown):
        lines.append(f"  and {len(gpu.processes) - len(shown)} more")
    return lines


def _ram_lines(ram: RamMemory) -> list[str]:
    swap_used = None if ram.swap_total is None or ram.swap_free is None else ram.swap_total - ram.swap_free
    lines = ["System memory", _pool_line("RAM", Pool(ram.total, ram.used))]
    if ram.swap_total != 0:
        lines.append(_pool_line("swap", Pool(ram.swap_total, swap_used)))
    return lines


def _pool_line(name: str, pool: Pool) -> str:
    return _line(name, f"{gib(pool.used):>7} of {gib(pool.total):>5} GiB")


def _sized(size: int | None) -> str:
    return UNKNOWN if size is None else f"{gib(size):>7} GiB"


def _line(name: str, text: str) -> str:
    return f"  {name:<6}{text}"
