"""Any load options that the engine would take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from engine.loading.check import (
    MAX_BATCH,
    MAX_CONTEXT,
    MAX_FREQ_BASE,
    MAX_FREQ_SCALE,
    MAX_LAYERS,
    MAX_LORA_SCALE,
    MAX_SHARE,
    MAX_THREADS,
    MAX_YARN,
)
from engine.protocol.types import FlashAttention, KvType, LoadOptions, LoraAdapter, RopeScaling, SplitMode

DEVICES = ("0000:03:00.0", "0000:0a:00.0", "Vulkan0", "cpu", "0000:ff:1f.7")
PATHS = ("/adapters/a.gguf", "/adapters/ü b.gguf", "/x/c.gguf")


def _floats(highest: float, lowest: float = 0.0) -> SearchStrategy[float]:
    return st.floats(lowest, highest, allow_nan=False)


@dataclass(frozen=True)
class Shared:
    """Devices with their shares."""

    devices: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()


@st.composite
def shared(draw: DrawFn) -> Shared:
    devices = draw(st.lists(st.sampled_from(DEVICES), max_size=4, unique=True))
    count = len(devices) * draw(st.integers(0, 1))
    shares = draw(st.lists(_floats(MAX_SHARE), min_size=count, max_size=count))
    return Shared(tuple(devices), tuple(shares) if any(shares) else ())


@st.composite
def load_options(draw: DrawFn) -> LoadOptions:
    """Valid in every combination."""
    yarn = st.none() | _floats(MAX_YARN)
    places = draw(shared())
    adapters = draw(st.lists(st.sampled_from(PATHS), max_size=3, unique=True))
    scale = _floats(MAX_LORA_SCALE, -MAX_LORA_SCALE)
    values: dict[str, Any] = {
        "n_ctx": draw(st.integers(0, MAX_CONTEXT) | st.sampled_from([0, 4096, 8192])),
        "n_gpu_layers": draw(st.integers(-1, MAX_LAYERS) | st.integers(-1, 40)),
        "device": draw(st.none() | st.sampled_from(DEVICES)),
        "devices": places.devices,
        "shares": places.shares,
        "split": draw(st.sampled_from(SplitMode)),
        "n_batch": draw(st.integers(1, MAX_BATCH)),
        "n_ubatch": draw(st.integers(1, MAX_BATCH)),
        "n_threads": draw(st.integers(0, MAX_THREADS)),
        "flash_attention": draw(st.sampled_from(FlashAttention)),
        "kv_type_k": draw(st.sampled_from(KvType)),
        "kv_type_v": draw(st.sampled_from(KvType)),
        "kv_on_cpu": draw(st.booleans()),
        "n_cpu_moe": draw(st.integers(0, MAX_LAYERS) | st.integers(0, 40)),
        "mmap": draw(st.sampled_from([None, True, False])),
        "rope_scaling": draw(st.sampled_from(RopeScaling)),
        "rope_freq_base": draw(_floats(MAX_FREQ_BASE)),
        "rope_freq_scale": draw(_floats(MAX_FREQ_SCALE)),
        "yarn_orig_ctx": draw(st.integers(0, MAX_CONTEXT)),
        "yarn_ext_factor": draw(st.none() | _floats(1.0)),
        "yarn_attn_factor": draw(yarn),
        "yarn_beta_fast": draw(yarn),
        "yarn_beta_slow": draw(yarn),
        "lora": tuple(LoraAdapter(path=path, scale=draw(scale)) for path in adapters),
    }
    options = LoadOptions(**values)
    if options.flash_attention is FlashAttention.OFF:
        split = SplitMode.LAYER if options.split is SplitMode.TENSOR else options.split
        options = msgspec.structs.replace(options, kv_type_v=KvType.F16, split=split)
    return options
