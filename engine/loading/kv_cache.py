"""How large the KV cache of a model gets, from the header of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.library.gguf.metadata import Metadata
from engine.protocol.types import KvType, LoadOptions

STEP: Final = 256
"""llama.cpp makes the cache as long as a multiple of this, in tokens."""

_BYTES: Final = {KvType.F16: 2.0, KvType.Q8_0: 34 / 32, KvType.Q4_0: 18 / 32}
"""For one value, the scale of its block included."""

_SPARSEST: Final = 6
"""Where a file with a sliding window does not say which layers see the whole context: at least one in so many does."""

_OTHER_CACHES: Final = ("attention.kv_lora_rank", "ssm.state_size", "wkv.head_size", "shortconv.l_cache")
"""Entries of models that keep something else: latent attention, recurrent and hybrid ones."""


@dataclass(frozen=True)
class KvCache:
    """Bytes for each token of context.

    Attributes:
        whole: Of the layers that see the whole context.
        sliding: Of those that see a window only.
        window: Tokens that the latter keep.
    """

    whole: int
    sliding: int
    window: int

    def size(self, n_ctx: int) -> int:
        """Bytes for a context of ``n_ctx`` tokens."""
        length = _padded(n_ctx)
        return length * self.whole + min(length, self.window) * self.sliding

    def longest(self, room: int) -> int:
        """The longest context in tokens, a multiple of `STEP`, that fits into ``room`` bytes; 0: none."""
        inside = max(0, room) // (self.whole + self.sliding)
        beyond = (room - self.window * self.sliding) // self.whole
        return max(inside if inside <= self.window else 0, beyond if beyond > self.window else 0) // STEP * STEP


def kv_cache(metadata: Metadata, options: LoadOptions) -> KvCache | None:
    """The cache of one sequence; None for models that keep anything else, or when the file does not say.

    Where layers differ and the file does not say how, it is the least that they may take.
    """
    arch = metadata.text("general.architecture")

    def count(name: str) -> int | None:
        return metadata.count(f"{arch}.{name}")

    layers, heads, width = count("block_count"), count("attention.head_count"), count("embedding_length")
    if not layers or not heads or not width or any(f"{arch}.{name}" in metadata.values for name in _OTHER_CACHES):
        return None
    if f"{arch}.attention.head_count_kv" in metadata.list_lengths:
        return None
    pairs = count("attention.head_count_kv") or heads
    keys, values = (count(f"attention.{name}_length") or width // heads for name in ("key", "value"))
    layer = int(pairs * (keys * _BYTES[options.kv_type_k] + values * _BYTES[options.kv_type_v]))
    layers -= min(layers - 1, count("attention.shared_kv_layers") or 0)
    swa = count("attention.sliding_window") or 0
    seeing_all = max(1, layers // (count("attention.sliding_window_pattern") or _SPARSEST)) if swa else layers
    window = _padded(swa + min(options.n_ubatch, options.n_batch)) if swa else 0
    return KvCache(layer * seeing_all, layer * (layers - seeing_all), window) if layer else None


def _padded(tokens: int) -> int:
    return -(-tokens // STEP) * STEP
