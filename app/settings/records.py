"""Settings that no single feature owns."""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.loading.check import MAX_BATCH, MAX_CONTEXT, MAX_DEVICES, MAX_LAYERS, MAX_PARALLEL, MAX_SHARE, MAX_THREADS
from engine.protocol.types import FlashAttention, KvType, LoadOptions, SplitMode

_DEFAULT = LoadOptions()

ANSWERS_AT_ONCE = 2
"""In the window: one can ask elsewhere while an answer is written. A single answer is not slower for it."""

MAX_VARIABLES = 64
"""Most variables of one backend that are kept."""


class EngineSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How models are loaded, and which one was last. What belongs to one model (RoPE, LoRA, experts) is not here.

    Attributes:
        n_ctx: Context length in tokens; 0 takes the model's trained length.
        n_gpu_layers: Layers on the GPU; -1 all, 0 none.
        device: PCI address, ``cpu``, or None to choose by itself.
        devices: PCI addresses of several devices, in order, which go before ``device``; empty: one device.
        shares: How much of the model each of them takes; empty: by free memory.
        n_parallel: Answers that are written at the same time; together they have ``n_ctx`` tokens.
        last_model: Path of the model that was loaded last; empty when there was none.

    The others are as in `LoadOptions`.
    """

    n_ctx: Annotated[int, msgspec.Meta(ge=0, le=MAX_CONTEXT)] = _DEFAULT.n_ctx
    n_gpu_layers: Annotated[int, msgspec.Meta(ge=-1, le=MAX_LAYERS)] = _DEFAULT.n_gpu_layers
    device: str | None = None
    devices: Annotated[tuple[str, ...], msgspec.Meta(max_length=MAX_DEVICES)] = ()
    shares: Annotated[
        tuple[Annotated[float, msgspec.Meta(ge=0, le=MAX_SHARE)], ...], msgspec.Meta(max_length=MAX_DEVICES)
    ] = ()
    split: SplitMode = _DEFAULT.split
    n_batch: Annotated[int, msgspec.Meta(ge=1, le=MAX_BATCH)] = _DEFAULT.n_batch
    n_ubatch: Annotated[int, msgspec.Meta(ge=1, le=MAX_BATCH)] = _DEFAULT.n_ubatch
    n_parallel: Annotated[int, msgspec.Meta(ge=1, le=MAX_PARALLEL)] = ANSWERS_AT_ONCE
    n_threads: Annotated[int, msgspec.Meta(ge=0, le=MAX_THREADS)] = _DEFAULT.n_threads
    flash_attention: FlashAttention = _DEFAULT.flash_attention
    kv_type_k: KvType = _DEFAULT.kv_type_k
    kv_type_v: KvType = _DEFAULT.kv_type_v
    kv_on_cpu: bool = _DEFAULT.kv_on_cpu
    mmap: bool | None = _DEFAULT.mmap
    last_model: str = ""

    def load_options(self) -> LoadOptions:
        """The options of the next load. Shares that do not belong to the devices are left out."""
        fitting = len(self.shares) == len(self.devices) and any(self.shares)
        names = (name for name in self.__struct_fields__ if name not in ("last_model", "shares"))
        return LoadOptions(shares=self.shares if fitting else (), **{name: getattr(self, name) for name in names})


class BackendSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the next worker process does with its ggml plugins.

    Attributes:
        off: Names of backends, as in `BackendInfo.name`, that are not loaded; upper and lower case are the same.
        environment: Variables of each backend: backend name to variable to value. Those of a backend that is off are
            not set.
        ignored: Variables of the user's own environment that the worker does not get.
    """

    off: tuple[str, ...] = ()
    environment: dict[str, Annotated[dict[str, str], msgspec.Meta(max_length=MAX_VARIABLES)]] = {}
    ignored: tuple[str, ...] = ()

    def is_off(self, backend: str) -> bool:
        """Whether the user switched ``backend`` off."""
        return backend.casefold() in {name.casefold() for name in self.off}
