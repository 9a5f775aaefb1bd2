"""How a model is loaded."""

from __future__ import annotations

from enum import StrEnum

import msgspec


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
        mmap: None: the CPU reads the weights into huge pages where they come and there is plenty of room, else
            llama.cpp decides (off on unified memory).
        rope_scaling: See `RopeScaling`. Linear and YaRN without ``rope_freq_scale`` stretch just as far as ``n_ctx``.
        rope_freq_base: Base frequency of RoPE; 0: the model's.
        rope_freq_scale: Factor on the frequencies of RoPE, 0.5 doubles the context; 0: the model's.
        yarn_orig_ctx: Context in tokens that YaRN stretches; 0: the trained one.
        yarn_ext_factor: Share of extrapolation in YaRN, 0 to 1; None: the model's.
        yarn_attn_factor: Scale of the attention in YaRN; None: the model's.
        yarn_beta_fast: Rotations above which YaRN does not interpolate; None: the model's.
        yarn_beta_slow: Rotations below which YaRN interpolates fully; None: the model's.
        n_parallel: Answers that can be written at the same time; together they have ``n_ctx`` tokens.
        lora: Adapters, laid over the model together.
        draft: File of a smaller model with the same vocabulary, which guesses the next tokens; None: none is loaded.
        draft_gpu_layers: Layers of it on the GPU; -1 all, 0 none.
        ngram: Guess the next tokens from what stands in the conversation already, before ``draft`` is asked.
        n_draft: Most tokens guessed at once.
        n_draft_min: Fewer guessed tokens are not worth a look.
        draft_p_min: The draft model stops guessing at a token that it gives less probability, 0 to 1. Above 0 it is not
            asked where that makes an answer slower; 0: it is always asked.
        mmproj: File of the image encoder that is loaded with the model; None: none is.
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
    n_parallel: int = 1
    lora: tuple[LoraAdapter, ...] = ()
    draft: str | None = None
    draft_gpu_layers: int = -1
    ngram: bool = False
    n_draft: int = 8
    n_draft_min: int = 1
    draft_p_min: float = 0.6
    mmproj: str | None = None
