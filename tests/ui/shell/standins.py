"""Services with the real signals and no work behind them: tests say what they answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from engine.client.session import WorkerState
from engine.protocol.frames import Failed, Hello, Loaded
from engine.protocol.types import BackendInfo, DeviceInfo, DeviceKind, LoadOptions, ModelInfo

GIB = 1024**3

RADEON = DeviceInfo(
    id="Vulkan0",
    backend="Vulkan",
    name="AMD Radeon RX 7900 XTX (RADV NAVI31)",
    pci="0000:03:00.0",
    kind=DeviceKind.GPU,
    memory_total=24 * GIB,
    memory_free=22 * GIB,
    usable=True,
)
PROCESSOR = DeviceInfo(
    id="CPU",
    backend="CPU",
    name="AMD Ryzen 7 7800X3D",
    pci=None,
    kind=DeviceKind.CPU,
    memory_total=32 * GIB,
    memory_free=20 * GIB,
    usable=True,
)
NO_VULKAN = BackendInfo(name="Vulkan", path="", loaded=False, error="libvulkan.so.1 is not installed")
HELLO = Hello(protocol=1, pid=4711, engine="llama-cpp-python", devices=(RADEON, PROCESSOR))
HELLO_CPU = Hello(protocol=1, pid=4711, engine="llama-cpp-python", backends=(NO_VULKAN,), devices=(PROCESSOR,))


def model_info(path: str = "/models/Qwen3-8B-Q4_K_M.gguf", device: DeviceInfo = RADEON, **changes: Any) -> ModelInfo:
    values: dict[str, Any] = {
        "path": path,
        "name": "Qwen3 8B",
        "architecture": "qwen3",
        "quant": "Q4_K_M",
        "n_params": 8_000_000_000,
        "size_bytes": 5_000_000_000,
        "n_ctx": 16384,
        "n_ctx_train": 32768,
        "n_layers": 36,
        "gpu_layers": 36 if device.kind is DeviceKind.GPU else 0,
        "device": device,
    }
    return ModelInfo(**{**values, **changes})


class FakeWorker(QObject):
    """Remembers what it was asked for; tests emit what happens."""

    state_changed = Signal(object)
    hello_received = Signal(object)
    load_progress = Signal(float)
    model_changed = Signal(object)
    speed_changed = Signal(object)
    died = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.state = WorkerState.STOPPED
        self.hello: Hello | None = None
        self.model: ModelInfo | None = None
        self.last_load: tuple[Path, LoadOptions] | None = None
        self.pid: int | None = None
        self.loads: list[tuple[Path, Callable[[Loaded | Failed], None]]] = []
        self.cancelled: list[int] = []
        self.unloads = 0
        self.started = 0

    def start(self) -> None:
        self.started += 1

    def load(self, path: Path, options: LoadOptions, done: Callable[[Loaded | Failed], None]) -> int:
        self.loads.append((path, done))
        self.set_state(WorkerState.LOADING)
        return len(self.loads)

    def unload(self) -> None:
        self.unloads += 1
        self.set_model(None)
        self.set_state(WorkerState.STOPPED)

    def cancel(self, request: int) -> None:
        self.cancelled.append(request)

    def set_state(self, state: WorkerState) -> None:
        self.state = state
        self.state_changed.emit(state)

    def set_hello(self, hello: Hello) -> None:
        self.hello = hello
        self.hello_received.emit(hello)

    def set_model(self, model: ModelInfo | None) -> None:
        self.model = model
        self.model_changed.emit(model)

    def finish_load(self, outcome: ModelInfo | Failed) -> None:
        """Answer the last `load`."""
        path, done = self.loads[-1]
        if isinstance(outcome, ModelInfo):
            self.last_load = (path, LoadOptions())
            self.set_model(outcome)
            self.set_state(WorkerState.READY)
            done(Loaded(id=len(self.loads), model=outcome, seconds=1.0))
        else:
            self.set_state(WorkerState.IDLE)
            done(outcome)
