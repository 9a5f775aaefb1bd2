"""What choosing load options needs to know of a model file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from engine.library.gguf import ModelHeader, read_file
from engine.library.gguf.metadata import Metadata
from engine.loading.kv_cache import kv_cache
from engine.loading.metadata import file_metadata, key_and_value_sizes
from engine.loading.rope import TrainedContext, reach
from engine.loading.suits import KV_BLOCK, original_context
from engine.protocol.types import LoadOptions


@dataclass(frozen=True)
class ModelFacts:
    """Facts of one model; None or empty where the file does not say.

    Attributes:
        weights: Bytes of all parts of the file.
        n_layers: Blocks, the output layer not counted.
        n_ctx_train: Trained context in tokens.
        n_experts: Experts of a mixture of experts; 0 for every other model.
        odd_head: Size of an attention head that a quantised KV cache cannot hold; None when all fit.
        heads_known: The sizes of the heads are known.
        metadata: Entries of the header, not to be changed.
    """

    architecture: str = ""
    weights: int | None = None
    n_layers: int | None = None
    n_ctx_train: int | None = None
    n_experts: int = 0
    odd_head: int | None = None
    heads_known: bool = False
    metadata: Metadata = field(default_factory=Metadata)

    @property
    def quantised_kv(self) -> bool:
        """The KV cache is known to be possible in fewer than 16 bits."""
        return self.heads_known and self.odd_head is None

    def kv_bytes(self, options: LoadOptions) -> int | None:
        """Bytes of the KV cache for ``options``; None for models whose cache this program cannot reckon."""
        n_ctx = options.n_ctx or self.n_ctx_train
        cache = kv_cache(self.metadata, options)
        return None if cache is None or not n_ctx else cache.size(n_ctx)

    def reach(self, options: LoadOptions) -> int | None:
        """Tokens that the model can look back over with the RoPE scaling of ``options``; None when unknown."""
        if not self.n_ctx_train:
            return None
        factor = self.metadata.values.get(f"{self.architecture}.rope.scaling.factor")
        scale = 1 / factor if isinstance(factor, int | float) and factor > 0 else 1.0
        original = original_context(self.metadata) or self.n_ctx_train
        return reach(options, TrainedContext(self.n_ctx_train, original, scale))


def read_facts(path: Path, parts: Sequence[Path] = ()) -> ModelFacts | None:
    """Facts of the file at ``path``; ``parts`` are all files of a split set. None when it cannot be read.

    Reads the whole header, which takes some tenths of a second where the vocabulary is large.
    """
    header = read_file(path)
    if not isinstance(header, ModelHeader):
        return None
    metadata = file_metadata(path)
    keys, values = key_and_value_sizes(metadata)
    odd = sorted(size for size in keys | values if size % KV_BLOCK)
    return ModelFacts(
        architecture=header.architecture,
        weights=_size(parts or (path,)),
        n_layers=header.n_layers,
        n_ctx_train=header.context_length,
        n_experts=metadata.count(f"{header.architecture}.expert_count") or 0,
        odd_head=odd[0] if odd else None,
        heads_known=bool(keys and values),
        metadata=metadata,
    )


def _size(parts: Sequence[Path]) -> int | None:
    try:
        return sum(part.stat().st_size for part in parts)
    except OSError:
        return None
