"""Settings that no single feature owns."""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.protocol.types import LoadOptions


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How models are loaded, and which one was last.

    Attributes:
        n_ctx: Context length in tokens; 0 takes the model's trained length.
        n_gpu_layers: Layers on the GPU; -1 all, 0 none.
        device: PCI address, ``cpu``, or None to choose by itself.
        last_model: Path of the model that was loaded last; empty when there was none.
    """

    n_ctx: Annotated[int, msgspec.Meta(ge=0, le=16_777_216)] = LoadOptions().n_ctx
    n_gpu_layers: Annotated[int, msgspec.Meta(ge=-1, le=10_000)] = LoadOptions().n_gpu_layers
    device: str | None = None
    last_model: str = ""

    def load_options(self) -> LoadOptions:
        """The options of the next load."""
        return LoadOptions(n_ctx=self.n_ctx, n_gpu_layers=self.n_gpu_layers, device=self.device)
