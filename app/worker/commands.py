"""``vramble devices``: what the engine found to compute on."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import msgspec

from app.paths import find_paths
from engine.client.blocking import BlockingWorker
from engine.client.calls import raise_failure
from engine.client.command import worker_command
from engine.memory.sizes import gib_number
from engine.protocol.frames import Hello, ListDevices
from engine.protocol.types import DeviceInfo

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subparsers: Subparsers) -> None:
    """Add the command. Its ``func`` takes the parsed arguments and returns the exit code."""
    parser = subparsers.add_parser("devices", help="list the engine's backends and compute devices")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    """Start the engine, print what it says of itself, end it."""
    with BlockingWorker(worker_command(find_paths().backends)) as worker:
        hello = worker.start()
        if not hello.engine:
            _raise_reason(worker)
    if arguments.json:
        document = {"backends": hello.backends, "devices": hello.devices}
        print(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())
    else:
        print(table(hello))
    return 0


def _raise_reason(worker: BlockingWorker) -> None:
    """A worker that could not load its engine answers every request with the reason."""
    for event in worker.request(ListDevices(id=worker.next_id())):
        raise_failure(event)


def table(hello: Hello) -> str:
    """Devices as aligned lines, then backends, with the reason where something cannot be used."""
    rows = [(d.id, d.kind.value, d.pci or "-", _memory(d), d.name) for d in hello.devices]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for device, row in zip(hello.devices, rows, strict=True):
        lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        if not device.usable:
            lines.append(f"  not used: {device.reason or 'no reason given'}")
    lines.append("Backends: " + (", ".join(b.name for b in hello.backends if b.loaded) or "none"))
    lines += [f"  not loaded: {b.name}: {b.error or 'no reason given'}" for b in hello.backends if not b.loaded]
    lines += [f"  {b.name}: {b.error}" for b in hello.backends if b.loaded and b.error]
    return "\n".join(lines)


def _memory(device: DeviceInfo) -> str:
    if device.memory_total is None:
        return "memory unknown"
    total = f"{gib_number(device.memory_total)} GiB"
    return total if device.memory_free is None else f"{total}, {gib_number(device.memory_free)} GiB free"
