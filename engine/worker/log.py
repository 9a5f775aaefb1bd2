"""llama.cpp's log: to stderr with a level letter, its last lines kept, its load report understood."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from engine.protocol.types import MemoryUse

TAIL_LINES = 60
_MIB = 1024 * 1024


class Level(IntEnum):
    """``ggml_log_level``. The bindings' own table is out of date and hides errors."""

    NONE = 0
    DEBUG = 1
    INFO = 2
    WARN = 3
    ERROR = 4
    CONT = 5


_LETTERS = {Level.NONE: " ", Level.DEBUG: "D", Level.INFO: "I", Level.WARN: "W", Level.ERROR: "E"}

_BUFFER = re.compile(r"(\S+)\s+(model|LoRA|KV|RS|compute|output) buffer size\s*=\s*([\d.]+) MiB")
_OFFLOADED = re.compile(r"offloaded (\d+)/(\d+) layers to GPU")
_CACHE = re.compile(r"size\s*=\s*([\d.]+) MiB \(\s*\d+ cells")
_FLASH = re.compile(r"(?:flash_attn\s+= |Flash Attention )(auto|enabled|disabled|not supported)")
_SHARED = "Meta("
"""Start of the name of the one device that llama.cpp makes of several in a split by tensors."""

_MAPPED = "CPU_Mapped"

_FIELDS = {"model": "weights", "LoRA": "weights", "KV": "kv", "RS": "kv", "compute": "compute", "output": "output"}


@dataclass
class LoadReport:
    """What llama.cpp's log said about one load."""

    offloaded: int = 0
    buffers: dict[tuple[str, str], int] = field(default_factory=dict)
    """Bytes by device and field of `MemoryUse`."""

    flash_attention: bool | None = None
    caches: int = 0
    """Bytes of all caches on all devices together: said in a dry run as well."""

    mapped: int = 0
    """Bytes of the file that the mapping for the processor spans, more than it needs (`engine.worker.mapped`)."""

    copied: int = 0
    """Bytes of weights in all other buffers."""

    def take(self, line: str) -> None:
        """Learn from one log line."""
        match = _BUFFER.search(line)
        if match:
            size = round(float(match[3]) * _MIB)
            self._buffer(device_of_buffer(match[1]), _FIELDS[match[2]], size)
            if match[2] == "model":
                self._weights(match[1], size)
        match = _CACHE.search(line)
        if match:
            self.caches += round(float(match[1]) * _MIB)
        match = _OFFLOADED.search(line)
        if match:
            self.offloaded = int(match[1])
        match = _FLASH.search(line)
        if match and match[1] != "auto":
            self.flash_attention = match[1] == "enabled"

    def _weights(self, buffer: str, size: int) -> None:
        if buffer == _MAPPED:
            self.mapped += size
        else:
            self.copied += size

    def _buffer(self, device: str, name: str, size: int) -> None:
        """Weights and caches come in several parts; compute and output buffers are told again when they change."""
        adds = name in {"weights", "kv"}
        self.buffers[device, name] = size + (self.buffers.get((device, name), 0) if adds else 0)

    def memory(self, sharing: Sequence[str] = ()) -> tuple[MemoryUse, ...]:
        """The report by device, the CPU last.

        Args:
            sharing: Devices that stand behind the one that a split by tensors makes; llama.cpp says the largest part,
                which is written to each of them.
        """
        devices = dict.fromkeys(device for device, _ in self.buffers)
        shared = next((device for device in devices if device.startswith(_SHARED)), None)
        places = [(shown, said) for said in devices for shown in (sharing if said == shared and sharing else [said])]
        return tuple(
            MemoryUse(device=shown, **{name: size for (where, name), size in self.buffers.items() if where == said})
            for shown, said in sorted(places, key=lambda place: (place[0] == "CPU", place[0]))
        )


def device_of_buffer(buffer: str) -> str:
    """The device whose memory a buffer takes: ``CPU_Mapped`` and ``Vulkan_Host`` lie in RAM."""
    return "CPU" if buffer.startswith("CPU") or buffer.endswith("_Host") else buffer


class NativeLog:
    """Takes log calls from any native thread. Lines come in pieces; ``CONT`` goes on with the last level."""

    def __init__(self, fd: int = 2, *, debug: bool = False) -> None:
        self._fd = fd
        self._debug = debug
        self._level = Level.INFO
        self._partial = ""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self.report = LoadReport()

    def take(self, level: int, text: bytes) -> None:
        """One call of the log callback."""
        if level != Level.CONT:
            self._level = Level(level) if level in _LETTERS else Level.INFO
        *lines, self._partial = (self._partial + text.decode("utf-8", "replace")).split("\n")
        for line in lines:
            if line.strip():
                self._line(line)

    def _line(self, line: str) -> None:
        self.report.take(line)
        if self._level is Level.DEBUG and not self._debug:
            return
        text = f"{_LETTERS[self._level]} {line}"
        self._tail.append(text)
        self.write(text)

    def write(self, line: str) -> None:
        """One line to stderr, whole or not at all."""
        try:
            os.write(self._fd, (line + "\n").encode("utf-8", "replace"))
        except OSError:
            return

    def begin_load(self) -> None:
        """Forget what an earlier load said."""
        self.report = LoadReport()
        self._tail.clear()

    def tail(self) -> str:
        """The last lines, for the technical part of an error."""
        return "\n".join(self._tail)
