"""libggml through ctypes: loading plugins, asking for devices.

The bindings of llama-cpp-python cover libllama only. It must be the very libggml that libllama is linked to: a second
copy has a registry of its own, and a model then finds "no backends".
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from engine.errors import VrambleError


class DeviceType(IntEnum):
    """``ggml_backend_dev_type``."""

    CPU = 0
    GPU = 1
    IGPU = 2
    ACCEL = 3
    META = 4


class _Caps(ctypes.Structure):
    _fields_ = [
        ("async", ctypes.c_bool),
        ("host_buffer", ctypes.c_bool),
        ("buffer_from_host_ptr", ctypes.c_bool),
        ("events", ctypes.c_bool),
        ("mmap_support", ctypes.c_bool),
    ]


class _Props(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("caps", _Caps),
    ]


@dataclass(frozen=True)
class RawDevice:
    """A device as ggml describes it. Memory in bytes; ``device_id`` is a PCI address or empty."""

    handle: int
    backend: str
    name: str
    description: str
    type: DeviceType
    device_id: str
    memory_free: int
    memory_total: int


@dataclass(frozen=True)
class Registered:
    """A backend that ggml has taken. ``devices``: how many it brings."""

    handle: int
    name: str
    devices: int


AbortCallback = ctypes.CFUNCTYPE(None, ctypes.c_char_p)

_SIGNATURES: dict[str, tuple[object, list[object]]] = {
    "ggml_backend_load": (ctypes.c_void_p, [ctypes.c_char_p]),
    "ggml_backend_unload": (None, [ctypes.c_void_p]),
    "ggml_backend_reg_name": (ctypes.c_char_p, [ctypes.c_void_p]),
    "ggml_backend_dev_count": (ctypes.c_size_t, []),
    "ggml_backend_dev_get": (ctypes.c_void_p, [ctypes.c_size_t]),
    "ggml_backend_dev_get_props": (None, [ctypes.c_void_p, ctypes.POINTER(_Props)]),
    "ggml_backend_dev_backend_reg": (ctypes.c_void_p, [ctypes.c_void_p]),
    "ggml_backend_reg_dev_get": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t]),
    "ggml_backend_reg_dev_count": (ctypes.c_size_t, [ctypes.c_void_p]),
    "ggml_backend_reg_get_proc_address": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]),
    "ggml_backend_cpu_buffer_type": (ctypes.c_void_p, []),
}

_ROW_SPLIT = b"ggml_backend_split_buffer_type"


def mapped_library(stem: str, maps: Path = Path("/proc/self/maps")) -> Path | None:
    """The file named ``stem``.so* that this process has mapped, or None."""
    try:
        lines = maps.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    for line in lines:
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and Path(fields[5]).name.startswith(f"{stem}.so"):
            return Path(fields[5])
    return None


class Ggml:
    """The loaded libggml."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self._abort_callback: object = None

    @classmethod
    def of_process(cls, fallback: Path) -> Ggml:
        """The libggml that came in with libllama, else the one in ``fallback``.

        Raises:
            VrambleError: ``engine-missing`` when it cannot be opened.
        """
        path = mapped_library("libggml") or fallback / "libggml.so"
        try:
            return cls(ctypes.CDLL(str(path)))
        except (OSError, AttributeError) as error:
            raise VrambleError(
                "engine-missing",
                "The engine's libraries are incomplete.",
                "Install Vramble again.",
                str(error),
            ) from error

    def on_abort(self, report: Callable[[str], None]) -> None:
        """Have ``report`` called with the message when native code is about to abort the process."""
        if hasattr(self._library, "ggml_set_abort_callback"):
            call = AbortCallback(lambda message: report(message.decode("utf-8", "replace")))
            self._library.ggml_set_abort_callback.restype = ctypes.c_void_p
            self._library.ggml_set_abort_callback(call)
            self._abort_callback = call

    def load(self, plugin: Path) -> Registered | None:
        """Load and register a plugin; None when ggml refused it (it logs why)."""
        handle = self._library.ggml_backend_load(os.fsencode(plugin))
        if not handle:
            return None
        devices = int(self._library.ggml_backend_reg_dev_count(handle))
        return Registered(int(handle), _text(self._library.ggml_backend_reg_name(handle)), devices)

    def unload(self, registered: Registered) -> None:
        """Take a backend and its devices out of ggml's lists again. Only right after `load`: nothing may use it."""
        self._library.ggml_backend_unload(registered.handle)

    def cpu_buffer_type(self) -> int:
        """The handle of plain RAM, for tensors that are to stay there."""
        return int(self._library.ggml_backend_cpu_buffer_type())

    def splits_rows(self, handles: Sequence[int]) -> bool:
        """Whether these devices can share the rows of a matrix: the first ones of one backend, in its own order.

        The backend counts shares by its own device numbers, so another order or a gap would mix them up.
        """
        registries = {self._library.ggml_backend_dev_backend_reg(handle) for handle in handles}
        if len(registries) != 1:
            return False
        (registry,) = registries
        if len(handles) > self._library.ggml_backend_reg_dev_count(registry):
            return False
        first = [self._library.ggml_backend_reg_dev_get(registry, index) for index in range(len(handles))]
        can = self._library.ggml_backend_reg_get_proc_address(registry, _ROW_SPLIT)
        return bool(can) and first == list(handles)

    def devices(self) -> list[RawDevice]:
        """Every device of every loaded backend, with memory as it is now."""
        found = []
        for index in range(self._library.ggml_backend_dev_count()):
            handle = self._library.ggml_backend_dev_get(index)
            props = _Props()
            self._library.ggml_backend_dev_get_props(handle, ctypes.byref(props))
            registry = self._library.ggml_backend_dev_backend_reg(handle)
            found.append(
                RawDevice(
                    handle=handle,
                    backend=_text(self._library.ggml_backend_reg_name(registry)),
                    name=_text(props.name),
                    description=_text(props.description),
                    type=DeviceType(props.type),
                    device_id=_text(props.device_id),
                    memory_free=props.memory_free,
                    memory_total=props.memory_total,
                )
            )
        return found


def _text(raw: bytes | None) -> str:
    return (raw or b"").decode("utf-8", "replace")
