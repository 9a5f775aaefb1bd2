"""Values that travel inside frames. They carry no identity and no behaviour."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class DeviceKind(StrEnum):
    """What a compute device is, physically."""

    GPU = "gpu"
    IGPU = "igpu"
    CPU = "cpu"
    SOFTWARE = "software"
    """A graphics driver that computes on the processor (llvmpipe). Never chosen by itself."""


class FlashAttention(StrEnum):
    """llama.cpp's three-way switch; ``auto`` lets llama.cpp decide from the device."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    """The model ended its turn, or a stop string was met."""
    LENGTH = "length"
    """``max_tokens`` were generated."""
    CONTEXT = "context"
    """The context is full."""
    CANCELLED = "cancelled"
    ERROR = "error"


class BackendInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One ggml backend plugin. ``error`` says why it is absent (the loader's own words)."""

    name: str
    path: str
    loaded: bool
    error: str | None = None


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One compute device as ggml reports it. Memory in bytes, None when unknown.

    ``id`` is ggml's device name (``Vulkan0``), stable only inside one process; ``pci`` is the
    lower-case PCI address (``0000:03:00.0``) and the identity used everywhere else.
    ``reason`` says why a device is not usable.
    """

    id: str
    backend: str
    name: str
    pci: str | None
    kind: DeviceKind
    memory_total: int | None
    memory_free: int | None
    usable: bool
    reason: str | None = None


class LoadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is loaded.

    Attributes:
        n_ctx: Context length in tokens; 0 takes the model's trained length.
        n_gpu_layers: Layers on the GPU; -1 all, 0 none.
        device: PCI address or ggml device id; None chooses by itself; ``cpu`` forces the CPU.
        n_batch: Most tokens given to one decode call (prompt slices, so also cancel granularity).
        n_ubatch: Micro-batch: tokens computed at once.
        n_threads: CPU threads; 0 takes the number of physical cores that are usable.
        flash_attention: See `FlashAttention`.
        mmap: None lets llama.cpp decide (off on unified memory).
    """

    n_ctx: int = 4096
    n_gpu_layers: int = -1
    device: str | None = None
    n_batch: int = 512
    n_ubatch: int = 512
    n_threads: int = 0
    flash_attention: FlashAttention = FlashAttention.AUTO
    mmap: bool | None = None


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling parameters, named as in llama.cpp. ``temperature`` 0 is greedy; ``seed`` None is random."""

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    seed: int | None = None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as the chat template sees it. Roles: system, user, assistant."""

    role: str
    content: str


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the loaded model holds on one device, bytes, from llama.cpp's own load report."""

    device: str
    weights: int = 0
    kv: int = 0
    compute: int = 0
    output: int = 0


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The loaded model.

    ``device`` is where it runs; ``device_reason`` says why when that is the CPU or not the
    preferred one. ``template_source`` is ``file`` or ``fallback``. ``warnings`` are sentences.
    """

    path: str
    name: str
    architecture: str
    quant: str
    n_params: int
    size_bytes: int
    n_ctx: int
    n_ctx_train: int
    n_layers: int
    gpu_layers: int
    device: DeviceInfo
    device_reason: str | None = None
    memory: tuple[MemoryUse, ...] = ()
    template_source: str = "file"
    warnings: tuple[str, ...] = ()


class GenerationStats(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one answer.

    Attributes:
        prompt_tokens: Tokens of the whole prompt, cached ones included.
        cached_tokens: Of these, tokens whose KV cache was reused.
        generated_tokens: Tokens sampled, the end token not counted.
        ttft_ms: Request taken to first token sampled, milliseconds.
        prefill_tps: Prompt tokens computed per second (cached ones not counted); 0 when none.
        decode_tps: Tokens per second after the first one; 0 when fewer than two.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    ttft_ms: float = 0.0
    prefill_tps: float = 0.0
    decode_tps: float = 0.0
