"""Load options that cannot be meant, found before native code sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from engine.errors import VrambleError
from engine.protocol.types import FlashAttention, KvType, LoadOptions, SplitMode

MAX_CONTEXT = 16_777_216
MAX_LAYERS = 10_000
MAX_BATCH = 65_536
MAX_PARALLEL = 16
MAX_THREADS = 512
MAX_DEVICES = 16
"""Most devices that llama.cpp shares a model between."""

MAX_SHARE = 1e6
MAX_ADAPTERS = 64
MAX_LORA_SCALE = 100.0
MAX_FREQ_BASE = 1e12
MAX_FREQ_SCALE = 1024.0
MAX_YARN = 1e6
MAX_DRAFT = 64

CODE = "bad-load-options"
OTHER_OPTIONS = "Change the load options."
WITH_FLASH = "Switch flash attention on, or take f16 for the KV cache."

_INTEGERS: dict[str, tuple[str, int, int]] = {
    "n_ctx": ("The context length", 0, MAX_CONTEXT),
    "n_gpu_layers": ("The number of GPU layers", -1, MAX_LAYERS),
    "n_batch": ("The batch", 1, MAX_BATCH),
    "n_parallel": ("The number of answers at the same time", 1, MAX_PARALLEL),
    "n_ubatch": ("The micro-batch", 1, MAX_BATCH),
    "n_threads": ("The number of threads", 0, MAX_THREADS),
    "n_cpu_moe": ("The number of layers with experts on the CPU", 0, MAX_LAYERS),
    "yarn_orig_ctx": ("YaRN's original context", 0, MAX_CONTEXT),
    "draft_gpu_layers": ("The number of GPU layers of the draft model", -1, MAX_LAYERS),
    "n_draft": ("The number of tokens guessed at once", 1, MAX_DRAFT),
    "n_draft_min": ("The least number of tokens guessed at once", 1, MAX_DRAFT),
}
_NUMBERS: dict[str, tuple[str, float, float]] = {
    "rope_freq_base": ("The RoPE base frequency", 0, MAX_FREQ_BASE),
    "rope_freq_scale": ("The RoPE frequency scale", 0, MAX_FREQ_SCALE),
    "yarn_ext_factor": ("YaRN's extrapolation factor", 0, 1),
    "yarn_attn_factor": ("YaRN's attention factor", 0, MAX_YARN),
    "yarn_beta_fast": ("YaRN's fast rotations", 0, MAX_YARN),
    "yarn_beta_slow": ("YaRN's slow rotations", 0, MAX_YARN),
    "draft_p_min": ("The probability that ends a guess", 0, 1),
}


class Problem(NamedTuple):
    """What cannot be meant: a sentence, what to do about it, and the field of `LoadOptions` it is shown at."""

    message: str
    next_step: str
    field: str


def check_options(options: LoadOptions) -> None:
    """Refuse what cannot be meant.

    Raises:
        VrambleError: ``bad-load-options`` with one sentence.
    """
    for problem in problems(options):
        raise VrambleError(CODE, problem.message, problem.next_step)


def problems(options: LoadOptions) -> Iterator[Problem]:
    """All that cannot be meant, the most basic first."""
    for rule in (_integers, _numbers, _flash, _devices, _adapters, _guesses):
        yield from rule(options)


Found = Iterator[Problem]
Rule = Callable[[LoadOptions], Found]


def _integers(options: LoadOptions) -> Found:
    for name, (words, lowest, highest) in _INTEGERS.items():
        if not lowest <= getattr(options, name) <= highest:
            message = f"{words} has to be from {lowest} to {highest}, not {getattr(options, name)}."
            yield Problem(message, OTHER_OPTIONS, name)


def _numbers(options: LoadOptions) -> Found:
    for name, (words, lowest, highest) in _NUMBERS.items():
        value = getattr(options, name)
        if value is not None and not lowest <= value <= highest:
            message = f"{words} has to be from {lowest:g} to {highest:g}, not {value:g}."
            yield Problem(message, OTHER_OPTIONS, name)


def _flash(options: LoadOptions) -> Found:
    if options.flash_attention is not FlashAttention.OFF:
        return
    if options.kv_type_v is not KvType.F16:
        message = "Quantised values in the KV cache need flash attention, which is switched off."
        yield Problem(message, WITH_FLASH, "flash_attention")
    if options.split is SplitMode.TENSOR and len(options.devices) > 1:
        message = "The split by tensors needs flash attention, which is switched off."
        yield Problem(message, "Switch flash attention on.", "flash_attention")


def _devices(options: LoadOptions) -> Found:
    if len(options.devices) > MAX_DEVICES:
        yield Problem(f"A model can be shared by {MAX_DEVICES} devices at most.", "Choose fewer devices.", "devices")
    if not options.shares:
        return
    if len(options.shares) != len(options.devices):
        yield Problem(
            f"There are {len(options.shares)} shares for {len(options.devices)} devices.",
            "Give one share for each device, or none.",
            "shares",
        )
    if not all(0 <= share <= MAX_SHARE for share in options.shares) or not any(options.shares):
        yield Problem(f"Shares have to be from 0 to {MAX_SHARE:g}, one of them above 0.", OTHER_OPTIONS, "shares")


def _adapters(options: LoadOptions) -> Found:
    if len(options.lora) > MAX_ADAPTERS:
        yield Problem(f"At most {MAX_ADAPTERS} LoRA adapters can be used together.", OTHER_OPTIONS, "lora")
    for adapter in options.lora:
        if not abs(adapter.scale) <= MAX_LORA_SCALE:
            limit = f"from -{MAX_LORA_SCALE:g} to {MAX_LORA_SCALE:g}"
            message = f"The scale of a LoRA adapter has to be {limit}, not {adapter.scale:g}."
            yield Problem(message, OTHER_OPTIONS, "lora")
    paths = [adapter.path for adapter in options.lora]
    if len(set(paths)) < len(paths):
        yield Problem("A LoRA adapter is named twice.", "Name each adapter once.", "lora")


def _guesses(options: LoadOptions) -> Found:
    if options.n_draft_min > options.n_draft:
        message = f"A guess cannot have at least {options.n_draft_min} and at most {options.n_draft} tokens."
        yield Problem(message, "Lower the least number, or raise the largest one.", "n_draft_min")
