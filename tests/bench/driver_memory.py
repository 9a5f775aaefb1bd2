"""GPU memory in use by the driver's own figure, not ggml's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec
import psutil

from engine.protocol.types import DeviceInfo, DeviceKind

MIB = 1 << 20
PCI_FOLDER = Path("/sys/bus/pci/devices")


class DriverMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes, None where the driver does not say.

    Attributes:
        source: Who says it.
        device: Taken on the card, by all processes.
        process: Taken there by the worker.
        host: Resident memory of the worker: what a software driver takes.
    """

    source: str
    device: int | None = None
    process: int | None = None
    host: int | None = None


def driver_memory(device: DeviceInfo, pid: int | None, pci_folder: Path = PCI_FOLDER) -> DriverMemory:
    """What is in use on ``device`` now. ``pid``: the worker, while it runs."""
    host = _resident(pid)
    if device.kind is DeviceKind.SOFTWARE:
        return DriverMemory(source="resident memory", host=host)
    vram = _sysfs(device.pci, pci_folder)
    if vram is not None:
        return DriverMemory(source="amdgpu sysfs", device=vram, host=host)
    if shutil.which("nvidia-smi"):
        used = nvidia_used(_nvidia_smi("--query-gpu=pci.bus_id,memory.used"), device.pci)
        process = nvidia_process(_nvidia_smi("--query-compute-apps=pid,used_memory"), pid)
        return DriverMemory(source="nvidia-smi", device=used, process=process, host=host)
    return DriverMemory(source="none", host=host)


def _resident(pid: int | None) -> int | None:
    try:
        return None if pid is None else int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return None


def _sysfs(pci: str | None, folder: Path) -> int | None:
    """VRAM and GTT in use on an AMD card: on an APU a model lies in both."""
    found = []
    for name in ("mem_info_vram_used", "mem_info_gtt_used"):
        try:
            found.append(int((folder / (pci or "none") / name).read_text(encoding="ascii")))
        except (OSError, ValueError):
            return None
    return sum(found)


def _nvidia_smi(query: str) -> str:
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def nvidia_used(output: str, pci: str | None) -> int | None:
    """Bytes in use on the card with this PCI address (on the only card, where the address is not known).

    ``nvidia-smi`` writes addresses with a domain of eight digits, and sizes in MiB.
    """
    rows = [[cell.strip() for cell in line.split(",")] for line in output.splitlines() if "," in line]
    same = [row for row in rows if pci is not None and row[0].lower().endswith(pci[-12:].lower())]
    row = (same or (rows if len(rows) == 1 else []) or [["", ""]])[0]
    return _mib(row[1])


def nvidia_process(output: str, pid: int | None) -> int | None:
    """Bytes that ``pid`` takes. In a container the list is often empty, or has other numbers."""
    for line in output.splitlines():
        number, _, size = line.partition(",")
        if pid is not None and number.strip() == str(pid):
            return _mib(size.strip())
    return None


def _mib(text: str) -> int | None:
    return int(text) * MIB if text.isdigit() else None
