"""From headers of GGUF files to a `FitModel`. Which tensor belongs where is what ``llm_tensor_info_for`` says
(``src/llama-arch.cpp`` of llama.cpp 0c1e57098)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from engine.library.gguf import Contents, HeaderProblem, TensorEntry, read_file_contents
from engine.library.gguf.metadata import Metadata
from engine.library.names import shard_name, shard_of
from engine.memory.fit.caches import SPECIAL, layer_caches
from engine.memory.fit.records import HUGE, INPUT, FitModel, Piece
from engine.memory.fit.shape import Shape, bounded, by_layer, read_shape

_BLOCK: Final = re.compile(r"blk\.(\d+)\.")
_EXPERTS: Final = re.compile(r"\.ffn_(up|down|gate|gate_up)_(ch|)exps")
"""What `engine.worker.experts` matches."""

_KV_BLOCK: Final = 32
_LONGEST: Final = 1 << 26
"""Tokens. Longer contexts are nonsense in a header."""
_EMBEDDINGS: Final = "token_embd.weight"
_OUTPUT: Final = "output.weight"
_INPUTS: Final = frozenset({"token_embd", "position_embd", "token_types", "per_layer_token_embd", "masked_embd"})
_WITH_FIRST_LAYER: Final = frozenset(
    {"token_embd_norm", "rope_freqs", "rope_factors_long", "rope_factors_short", "per_layer_model_proj"}
    | {"per_layer_proj_norm"}
)


def read_model(path: Path) -> FitModel | HeaderProblem:
    """The model at ``path`` with the other parts of a split set beside it. Never raises for what the files hold."""
    found = read_file_contents(path)
    if isinstance(found, HeaderProblem):
        return found
    part, split = shard_of(path.name), found.header.split
    if part is None or split is None:
        return model_of([found])
    parts = []
    for no in range(1, part.total + 1):
        name = shard_name(part, no)
        read = found if name == path.name else read_file_contents(path.with_name(name))
        if isinstance(read, HeaderProblem):
            return read
        parts.append(read)
    return model_of(parts)


def model_of(parts: Sequence[Contents], image: int = 0) -> FitModel:
    """The model whose files have these headers, the first one with the entries.

    Args:
        image: Bytes of the image encoder that is loaded with it.
    """
    metadata, header = parts[0].metadata, parts[0].header
    shape = read_shape(metadata)
    tensors = [tensor for contents in parts for tensor in contents.tensors]
    if shape is None:
        whole = sum(tensor.n_bytes for tensor in tensors)
        return FitModel(n_layers=0, pieces=(Piece(0, whole),), known_cache=False, name=header.name, image=image)
    tied = (
        None if any(t.name == _OUTPUT for t in tensors) else next((t for t in tensors if t.name == _EMBEDDINGS), None)
    )
    used = bounded(metadata.count(f"{shape.architecture}.expert_used_count"))
    return FitModel(
        name=header.name,
        architecture=shape.architecture,
        quant=header.quant,
        n_layers=shape.n_layers,
        context_length=min(header.context_length or 0, _LONGEST),
        width=shape.width,
        n_vocab=_vocabulary(metadata, tensors),
        n_ff=_feed_forward(metadata, shape, used),
        n_heads=max(shape.heads),
        n_attention=max(shape.heads) * (shape.key + shape.value + shape.key_latent),
        n_experts=bounded(metadata.count(f"{shape.architecture}.expert_count")),
        n_experts_used=used,
        pieces=_pieces(tensors, shape),
        largest=_largest(tensors, experts=False),
        largest_expert=_largest(tensors, experts=True),
        tied=tied.n_bytes if tied else 0,
        tied_kind=tied.kind if tied else "",
        caches=layer_caches(metadata, shape),
        quantised_kv=not any(size % _KV_BLOCK for size in (shape.key, shape.value, shape.key_swa, shape.value_swa)),
        known_cache=shape.architecture not in SPECIAL,
        image=image,
    )


def _pieces(tensors: Iterable[TensorEntry], shape: Shape) -> tuple[Piece, ...]:
    sums: Counter[tuple[int, bool]] = Counter()
    huge = []
    for tensor in tensors:
        layer = _layer_of(tensor.name, shape.n_layers)
        if shape.n_trunk <= layer < shape.n_layers:
            continue
        expert = _EXPERTS.search(tensor.name) is not None
        if tensor.n_bytes > HUGE:
            huge.append(Piece(layer, tensor.n_bytes, expert, huge=True))
        else:
            sums[layer, expert] += tensor.n_bytes
    return (*(Piece(layer, size, expert) for (layer, expert), size in sorted(sums.items())), *huge)


def _largest(tensors: Sequence[TensorEntry], *, experts: bool) -> int:
    blocks = (tensor for tensor in tensors if _BLOCK.match(tensor.name))
    return max((t.n_bytes for t in blocks if (_EXPERTS.search(t.name) is not None) is experts), default=0)


def _layer_of(name: str, n_layers: int) -> int:
    if block := _BLOCK.match(name):
        return min(int(block[1]), n_layers - 1)
    stem = name.partition(".")[0]
    if stem in _INPUTS:
        return INPUT
    return 0 if stem in _WITH_FIRST_LAYER else n_layers


def _vocabulary(metadata: Metadata, tensors: Sequence[TensorEntry]) -> int:
    listed = metadata.list_lengths.get("tokenizer.ggml.tokens")
    if listed:
        return listed
    embeddings = next((tensor for tensor in tensors if tensor.name == _EMBEDDINGS), None)
    return embeddings.dims[-1] if embeddings and embeddings.dims else 0


def _feed_forward(metadata: Metadata, shape: Shape, experts_used: int) -> int:
    """Gate, up and their product, or what the experts in use give for each other to be added up."""
    key = f"{shape.architecture}.expert_feed_forward_length"
    experts = max(by_layer(metadata, key, shape.n_layers), default=0) or (max(shape.ff) if experts_used else 0)
    added = 2 * experts_used * shape.width + shape.width if experts_used > 1 else 0
    return max(3 * max(shape.ff), 3 * experts * experts_used, added)
