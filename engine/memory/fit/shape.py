"""The dimensions of a model, as llama.cpp reads them out of the entries of its file.

Source: ``llama_model_base::load_hparams`` in ``src/llama-model.cpp`` of llama.cpp 0c1e57098.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.library.gguf.metadata import Metadata

MAX_LAYERS = 1024
"""llama.cpp takes models of up to 512."""

MAX_SIZE = 1 << 20
"""No width, head, layer or state of a model is larger: what is in a header that says so is nonsense."""

MAX_HEADS = 1 << 14


@dataclass(frozen=True)
class Shape:
    """Sizes by layer where they may differ.

    Attributes:
        n_layers: All blocks, also the prediction layers at the end that are not used.
        n_trunk: Blocks that compute answers.
        key: Size of a key of one head in layers that see the whole context; ``key_swa`` in those with a window.
        latent: Latent attention (MLA): keys only, the values are part of them.
        key_latent: Size of a query of one head before it is taken to the latent space; 0 without that.
    """

    architecture: str
    n_layers: int
    n_trunk: int
    width: int
    heads: tuple[int, ...]
    kv_heads: tuple[int, ...]
    ff: tuple[int, ...]
    key: int
    value: int
    key_swa: int
    value_swa: int
    latent: bool
    key_latent: int
    shared_kv_layers: int
    attention_interval: int
    recurrent_layers: tuple[int, ...]


def read_shape(metadata: Metadata) -> Shape | None:
    """None when the file does not say how many blocks it has or how wide they are, or says what cannot be."""
    arch = metadata.text("general.architecture")

    def count(name: str) -> int:
        return bounded(metadata.count(f"{arch}.{name}"))

    n_layers, width = count("block_count"), count("embedding_length")
    if not 0 < n_layers <= MAX_LAYERS or not width:
        return None
    heads = by_layer(metadata, f"{arch}.attention.head_count", n_layers)
    kv_heads = by_layer(metadata, f"{arch}.attention.head_count_kv", n_layers) or heads
    default = width // heads[0] if heads and heads[0] else 0
    key, value = count("attention.key_length") or default, count("attention.value_length") or default
    none = (0,) * n_layers
    if max((*heads, *kv_heads, 0)) > MAX_HEADS:
        return None
    return Shape(
        architecture=arch,
        n_layers=n_layers,
        n_trunk=n_layers - min(n_layers, count("nextn_predict_layers")),
        width=width,
        heads=heads or none,
        kv_heads=kv_heads or none,
        ff=by_layer(metadata, f"{arch}.feed_forward_length", n_layers) or none,
        key=key,
        value=value,
        key_swa=count("attention.key_length_swa") or key,
        value_swa=count("attention.value_length_swa") or value,
        latent=bool(count("attention.key_length_mla") and count("attention.value_length_mla")),
        key_latent=count("attention.key_length_mla"),
        shared_kv_layers=count("attention.shared_kv_layers"),
        attention_interval=count("full_attention_interval"),
        recurrent_layers=by_layer(metadata, f"{arch}.attention.recurrent_layers", n_layers),
    )


def by_layer(metadata: Metadata, key: str, n_layers: int) -> tuple[int, ...]:
    """The number of each layer, where one stands for all or each has its own; empty when the file does not say."""
    given = metadata.lists.get(key)
    if given is not None:
        return tuple(bounded(item) for item in (*given, *(0,) * n_layers)[:n_layers])
    one = metadata.count(key)
    return () if one is None else (bounded(one),) * n_layers


def bounded(item: int | float | None) -> int:
    """A size out of a header; 0 for what is missing or cannot be one."""
    return item if isinstance(item, int) and 0 < item <= MAX_SIZE else 0
