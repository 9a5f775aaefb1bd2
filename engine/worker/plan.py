"""What one load is going to do, settled before native code starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.backends.placement import Placement
from engine.library.gguf import ModelHeader
from engine.protocol.types import DeviceKind, LoadOptions


@dataclass(frozen=True)
class Plan:
    """File, options, and where the model goes. ``handles`` are ggml's for the GPUs of ``placement``, in order."""

    path: Path
    header: ModelHeader
    options: LoadOptions
    placement: Placement
    handles: tuple[int, ...]

    @property
    def on_gpu(self) -> bool:
        """Whether any layer may leave the CPU."""
        return self.placement.main.kind is not DeviceKind.CPU
