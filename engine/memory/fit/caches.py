"""What each layer of a model keeps for the tokens that it has seen.

Facts of llama.cpp 0c1e57098: ``llama_model_base::load_hparams`` and ``llama_model::create_memory`` in
``src/llama-model.cpp``, ``src/llama-hparams.cpp``, ``load_arch_hparams`` in ``src/models/*.cpp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from engine.library.gguf.metadata import Metadata
from engine.memory.fit.records import LayerCache
from engine.memory.fit.recurrent import is_recurrent, state_bytes
from engine.memory.fit.shape import Shape, bounded

SPECIAL: Final = frozenset(
    {"minimax-m3", "glm-dsa", "deepseek32", "deepseek4", "glm5-next", "hy_v4", "dots3note", "dflash", "eagle3", "t5"}
    | {"qwen4exp", "kimi-k3", "gemma4-assistant", "granite_switch", "nanbeige"}
)
"""Architectures with a cache of their own kind (indexers, compressed states, looped layers): only guessed here."""

_FIRST_LAYERS_ONLY: Final = {"gemma3n": 20}
"""Layers after so many reuse the cache of earlier ones."""


@dataclass(frozen=True)
class _Windows:
    """``period`` n: one layer of n sees everything, the last or (``dense_first``) the first of them."""

    period: int
    dense_first: bool = False
    default: int = 0
    always: int = 0
    needs_key: bool = True


_WINDOWS: Final = {
    "afmoe": _Windows(4),
    "cohere2": _Windows(4),
    "cohere2moe": _Windows(4, dense_first=True),
    "exaone-moe": _Windows(4, default=128),
    "exaone4": _Windows(4),
    "gemma2": _Windows(2, default=4096),
    "gemma3": _Windows(6),
    "gemma3n": _Windows(5),
    "laguna": _Windows(4, dense_first=True),
    "llama4": _Windows(4, default=8192, always=8192),
    "mellum": _Windows(4),
    "muse-glimmer": _Windows(4),
    "olmo2": _Windows(4),
    "gpt-oss": _Windows(2),
    "plamo3": _Windows(8),
    "smallthinker": _Windows(4, dense_first=True, always=4096),
}
"""Where the file gives no pattern of its own."""

_PATTERN_ONLY: Final = frozenset(["gemma4", "granite_swa", "maple", "mimo2", "spark2_5", "step35"])
"""Architectures whose files always bring the pattern."""

_EXAONE4_WITH_WINDOWS: Final = 64
"""Only the exaone4 of so many layers has windows."""


def layer_caches(metadata: Metadata, shape: Shape) -> tuple[LayerCache, ...]:
    """One for each layer; prediction layers, which are not used, keep nothing."""
    windows = _windows(metadata, shape)
    state = state_bytes(metadata, shape)
    return tuple(_cache(shape, layer, windows[layer], state) for layer in range(shape.n_layers))


def _cache(shape: Shape, layer: int, window: int, state: int) -> LayerCache:
    if layer >= shape.n_trunk:
        return LayerCache()
    recurrent, attends = is_recurrent(shape, layer)
    kept = state if recurrent else 0
    if not attends or not _has_cache(shape, layer):
        return LayerCache(state=kept)
    pairs = shape.kv_heads[layer]
    key, value = (shape.key_swa, shape.value_swa) if window else (shape.key, shape.value)
    return LayerCache(pairs * key, 0 if shape.latent else pairs * value, window, kept)


def _has_cache(shape: Shape, layer: int) -> bool:
    first = _FIRST_LAYERS_ONLY.get(shape.architecture)
    if first is None and shape.shared_kv_layers and shape.architecture == "gemma4":
        first = shape.n_layers - shape.shared_kv_layers
    return first is None or layer < first


def _windows(metadata: Metadata, shape: Shape) -> list[int]:
    """Window of each layer, 0 for the whole context."""
    arch, key = shape.architecture, f"{shape.architecture}.attention.sliding_window"
    given, pattern = metadata.count(key), metadata.lists.get(f"{key}_pattern")
    given = None if given is None else bounded(given)
    rule = _WINDOWS.get(arch)
    if arch in ("lfm2", "lfm2moe"):
        return [given or 0] * shape.n_layers
    if rule is None and arch not in _PATTERN_ONLY:
        return [0] * shape.n_layers
    if arch == "exaone4" and shape.n_trunk != _EXAONE4_WITH_WINDOWS:
        return [0] * shape.n_layers
    window = _window_size(rule, given)
    if not window or (rule is None and pattern is None):
        return [0] * shape.n_layers
    if pattern is not None:
        return [window if layer < len(pattern) and pattern[layer] else 0 for layer in range(shape.n_layers)]
    assert rule is not None
    period = metadata.count(f"{key}_pattern")
    return _periodic(shape, window, rule.period if period is None else period, dense_first=rule.dense_first)


def _window_size(rule: _Windows | None, given: int | None) -> int:
    if rule is None:
        return given or 0
    if given is None:
        return rule.default
    return rule.always if rule.always and given else given


def _periodic(shape: Shape, window: int, period: int, *, dense_first: bool) -> list[int]:
    """``llama_hparams::set_swa_pattern``."""

    def slides(layer: int) -> bool:
        if layer >= shape.n_trunk:
            return False
        if period == 0:
            return True
        return layer % period != 0 if dense_first else layer % period < period - 1

    return [window if slides(layer) else 0 for layer in range(shape.n_layers)]
