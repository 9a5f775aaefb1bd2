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


class KvType(StrEnum):
    """Number format of the KV cache: 16, 8.5 and 4.5 bits for each value."""

    F16 = "f16"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"


class SplitMode(StrEnum):
    """How several devices share a model."""

    LAYER = "layer"
    """Whole layers on each, one device after the other."""
    ROW = "row"
    """Rows of each matrix. Few backends can; the others split by layers, with a warning."""
    TENSOR = "tensor"
    """All devices compute each layer together. Not every architecture can."""


class RopeScaling(StrEnum):
    """How positions beyond the trained context are mapped into it."""

    MODEL = "model"
    """As the file says."""
    NONE = "none"
    LINEAR = "linear"
    YARN = "yarn"


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


class LoraAdapter(msgspec.Struct, frozen=True, kw_only=True):
    """A LoRA file laid over the model. ``scale`` 0 leaves the model as it is, 1 is the adapter as trained."""

    path: str
    scale: float = 1.0


class LoadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a model is loaded. What cannot be meant is refused by `engine.loading.check`.

    Attributes:
        n_ctx: Context length in tokens; 0 takes the model's trained length.
        n_gpu_layers: Layers on the GPU; -1 all, 0 none.
        device: The main device: PCI address or ggml device id; None chooses by itself; ``cpu`` forces the CPU.
        devices: Several devices in this order, named like ``device``, which they replace. Empty: one device.
        shares: How much of the model each of ``devices`` takes, in any unit; empty: as much as memory is free.
        split: What is shared out between several devices.
        n_batch: Most tokens given to one decode call (prompt slices, so also cancel granularity).
        n_ubatch: Micro-batch: tokens computed at once, never more than ``n_batch``.
        n_threads: CPU threads; 0 takes the number of physical cores that are usable.
        flash_attention: See `FlashAttention`.
        kv_type_k: Format of the keys in the KV cache; a quantised one needs heads divisible by 32.
        kv_type_v: Format of the values; a quantised one needs flash attention as well.
        kv_on_cpu: Keep the KV cache in RAM and compute attention on the CPU.
        n_cpu_moe: Layers, from the first one, whose experts stay in RAM; more than there are means all.
        mmap: None lets llama.cpp decide (off on unified memory).
        rope_scaling: See `RopeScaling`. Linear and YaRN without ``rope_freq_scale`` stretch just as far as ``n_ctx``.
        rope_freq_base: Base frequency of RoPE; 0: the model's.
        rope_freq_scale: Factor on the frequencies of RoPE, 0.5 doubles the context; 0: the model's.
        yarn_orig_ctx: Context in tokens that YaRN stretches; 0: the trained one.
        yarn_ext_factor: Share of extrapolation in YaRN, 0 to 1; None: the model's.
        yarn_attn_factor: Scale of the attention in YaRN; None: the model's.
        yarn_beta_fast: Rotations above which YaRN does not interpolate; None: the model's.
        yarn_beta_slow: Rotations below which YaRN interpolates fully; None: the model's.
        lora: Adapters, laid over the model together.
    """

    n_ctx: int = 4096
    n_gpu_layers: int = -1
    device: str | None = None
    devices: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    split: SplitMode = SplitMode.LAYER
    n_batch: int = 512
    n_ubatch: int = 512
    n_threads: int = 0
    flash_attention: FlashAttention = FlashAttention.AUTO
    kv_type_k: KvType = KvType.F16
    kv_type_v: KvType = KvType.F16
    kv_on_cpu: bool = False
    n_cpu_moe: int = 0
    mmap: bool | None = None
    rope_scaling: RopeScaling = RopeScaling.MODEL
    rope_freq_base: float = 0.0
    rope_freq_scale: float = 0.0
    yarn_orig_ctx: int = 0
    yarn_ext_factor: float | None = None
    yarn_attn_factor: float | None = None
    yarn_beta_fast: float | None = None
    yarn_beta_slow: float | None = None
    lora: tuple[LoraAdapter, ...] = ()


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
    preferred one; ``devices`` are all that share it, in order. ``flash_attention`` is what llama.cpp
    took, None when it did not say. ``template_source`` is ``file`` or ``fallback``. ``warnings`` are
    sentences. ``fingerprint`` is equal for loads that compute the same numbers on the same device
    (`engine.worker.fingerprint`); empty when that is not known.
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
    devices: tuple[DeviceInfo, ...] = ()
    flash_attention: bool | None = None
    memory: tuple[MemoryUse, ...] = ()
    template_source: str = "file"
    warnings: tuple[str, ...] = ()
    fingerprint: str = ""


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
