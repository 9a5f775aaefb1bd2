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


SWITCHED_OFF = "It is switched off in the settings."
"""`BackendInfo.error` of a backend that the user does not want."""


class BackendInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One ggml backend plugin; each name is there once.

    ``error`` says why it is absent (with the loader's own words), or, when it is loaded, why it has no device, or why a
    file of the user that should have taken its place was not used.
    """

    name: str
    path: str
    loaded: bool
    error: str | None = None


class DeviceInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One compute device as ggml reports it. Memory in bytes, None when unknown.

    ``id`` is ggml's device name (``Vulkan0``), stable only inside one process; ``pci`` is the
    lower-case PCI address (``0000:03:00.0``) and the identity used everywhere else.
    ``reason`` says why a device is not usable. ``driver`` is a text that changes with its driver, empty
    for the processor and where that is not known.
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
    driver: str = ""


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
        n_parallel: Answers that can be written at the same time; together they have ``n_ctx`` tokens.
        lora: Adapters, laid over the model together.
        draft: File of a smaller model with the same vocabulary, which guesses the next tokens; None: none is loaded.
        draft_gpu_layers: Layers of it on the GPU; -1 all, 0 none.
        ngram: Guess the next tokens from what stands in the conversation already, before ``draft`` is asked.
        n_draft: Most tokens guessed at once.
        n_draft_min: Fewer guessed tokens are not worth a look.
        draft_p_min: The draft model stops guessing at a token that it gives less probability, 0 to 1.
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


class LogitBias(msgspec.Struct, frozen=True):
    """Added to the logit of one token before anything else; -inf cannot be written in JSON, -1000 forbids as surely."""

    token: int
    bias: float


DRY_BREAKERS = ("\n", ":", '"', "*")
"""Where DRY forgets what it has counted: llama.cpp's own list."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling parameters, named as in llama.cpp, whose order of steps they keep. Limits: `engine.sampling.check`.

    Attributes:
        temperature: 0 is greedy.
        top_k: Keep the k best tokens; 0 keeps all.
        top_p: Keep the best tokens up to this share of the probability; 1 keeps all.
        min_p: Drop tokens below this share of the best one's probability; 0 keeps all.
        typical_p: Locally typical sampling, share of the probability that is kept; 1 keeps all.
        top_n_sigma: Keep logits within so many standard deviations of the best; 0 or less keeps all.
        xtc_probability: How often the best of the likely tokens are dropped; 0 never.
        xtc_threshold: What XTC takes for likely; above 0.5 nothing is dropped.
        dynatemp_range: The temperature moves so far to both sides, by entropy; 0 leaves it.
        dynatemp_exponent: How entropy maps to temperature.
        repeat_penalty: Divides the logits of tokens that were there before; 1 changes nothing.
        frequency_penalty: Taken from a logit for each time the token was there.
        presence_penalty: Taken from a logit once when the token was there.
        repeat_last_n: How many tokens the three penalties remember; -1 the whole context, 0 none.
        dry_multiplier: Strength of the penalty on repeated sequences; 0 switches DRY off.
        dry_base: Growth of that penalty with each further token.
        dry_allowed_length: Sequences up to this length, tokens, may repeat freely.
        dry_penalty_last_n: How many tokens DRY looks back; -1 the whole context, 0 none.
        dry_sequence_breakers: Texts that end a sequence.
        mirostat: 1 or 2 take the place of all steps but temperature and the biases; 0 is off.
        mirostat_tau: Surprise that Mirostat aims at.
        mirostat_eta: How fast Mirostat learns.
        logit_bias: See `LogitBias`.
        grammar: GBNF; the answer (not the thought before it) keeps to it. Empty for none.
        json_schema: JSON Schema as JSON text, in place of ``grammar``. Empty for none.
        seed: None is random.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    top_n_sigma: float = -1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repeat_last_n: int = 64
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = -1
    dry_sequence_breakers: tuple[str, ...] = DRY_BREAKERS
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    logit_bias: tuple[LogitBias, ...] = ()
    grammar: str = ""
    json_schema: str = ""
    seed: int | None = None


class Thinking(msgspec.Struct, frozen=True, kw_only=True):
    """How much a model may think before it answers. Models that cannot think are not changed by it.

    Attributes:
        enabled: The template's ``enable_thinking``; None leaves it to the template. False also closes at once a thought
            that opens nevertheless.
        budget: Most tokens of a thought; then its end is written for the model. None for no limit.
    """

    enabled: bool | None = None
    budget: int | None = None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as the chat template sees it. Roles: system, user, assistant.

    ``thinking``: what the model thought before this answer; only templates that ask for it put it into the prompt.
    """

    role: str
    content: str
    thinking: str = ""


class MemoryUse(msgspec.Struct, frozen=True, kw_only=True):
    """What the loaded model holds on one device, bytes, from llama.cpp's own load report.

    ``image`` is the image encoder with the buffer that it computes in, ``draft`` the draft model with its KV cache and
    buffers.
    """

    device: str
    weights: int = 0
    kv: int = 0
    compute: int = 0
    output: int = 0
    image: int = 0
    draft: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.kv + self.compute + self.output + self.image + self.draft


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The loaded model.

    ``device`` is where it runs; ``device_reason`` says why when that is the CPU or not the
    preferred one; ``devices`` are all that share it, in order. ``flash_attention`` is what llama.cpp
    took, None when it did not say. ``template_source`` is ``file`` or ``fallback``. ``warnings`` are
    sentences, of which ``device_warnings`` are about devices that were asked for. ``fingerprint`` is equal
    for loads that compute the same numbers on the same device (`engine.worker.fingerprint`); empty when that
    is not known.
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
    device_warnings: tuple[str, ...] = ()
    fingerprint: str = ""


class GenerationStats(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one answer.

    Attributes:
        prompt_tokens: Tokens of the whole prompt, cached ones included.
        cached_tokens: Of these, tokens whose KV cache was reused.
        generated_tokens: Tokens sampled, the end token not counted.
        thinking_tokens: Of these, tokens of the thought.
        ttft_ms: Request taken to first token sampled, milliseconds.
        prefill_tps: Prompt tokens computed per second (cached ones not counted); 0 when none.
        decode_tps: Tokens per second after the first one; 0 when fewer than two.
        drafted: Tokens guessed by draft model or n-gram lookup, and looked at.
        accepted: Of these, tokens that the model chose itself.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    thinking_tokens: int = 0
    ttft_ms: float = 0.0
    prefill_tps: float = 0.0
    decode_tps: float = 0.0
    drafted: int = 0
    accepted: int = 0

    @property
    def accepted_rate(self) -> float | None:
        """Share of the guessed tokens that were right; None when none were guessed."""
        return self.accepted / self.drafted if self.drafted else None
