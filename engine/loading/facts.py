"""What choosing load options needs to know of a model file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from engine.library.gguf import Contents, read_file_contents
from engine.library.gguf.metadata import Metadata
from engine.loading.metadata import key_and_value_sizes
from engine.loading.rope import TrainedContext, reach
from engine.loading.suits import KV_BLOCK, original_context
from engine.memory.fit.header import model_of, read_model
from engine.memory.fit.records import FitModel
from engine.protocol.types import LoadOptions


@dataclass(frozen=True)
class ModelFacts:
    """Facts of one model; None or empty where the file does not say.

    Attributes:
        n_layers: Blocks, the output layer not counted.
        n_ctx_train: Trained context in tokens.
        n_experts: Experts of a mixture of experts; 0 for every other model.
        odd_head: Size of an attention head that a quantised KV cache cannot hold; None when all fit.
        heads_known: The sizes of the heads are known.
        metadata: Entries of the header, not to be changed.
        fit: What it needs of memory; None before the header was read.
    """

    architecture: str = ""
    n_layers: int | None = None
    n_ctx_train: int | None = None
    n_experts: int = 0
    odd_head: int | None = None
    heads_known: bool = False
    metadata: Metadata = field(default_factory=Metadata)
    fit: FitModel | None = None

    @property
    def quantised_kv(self) -> bool:
        """The KV cache is known to be possible in fewer than 16 bits."""
        return self.heads_known and self.odd_head is None

    def reach(self, options: LoadOptions) -> int | None:
        """Tokens that the model can look back over with the RoPE scaling of ``options``; None when unknown."""
        if not self.n_ctx_train:
            return None
        factor = self.metadata.values.get(f"{self.architecture}.rope.scaling.factor")
        scale = 1 / factor if isinstance(factor, int | float) and factor > 0 else 1.0
        original = original_context(self.metadata) or self.n_ctx_train
        return reach(options, TrainedContext(self.n_ctx_train, original, scale))


def read_facts(path: Path) -> ModelFacts | None:
    """Facts of the file at ``path``, with the other parts of a split set beside it. None when it cannot be read.

    Reads the whole header, which takes some tenths of a second where the vocabulary is large.
    """
    contents = read_file_contents(path)
    if not isinstance(contents, Contents):
        return None
    header, metadata = contents.header, contents.metadata
    fit = read_model(path) if header.split is not None else model_of([contents])
    keys, values = key_and_value_sizes(metadata)
    odd = sorted(size for size in keys | values if size % KV_BLOCK)
    return ModelFacts(
        architecture=header.architecture,
        n_layers=header.n_layers,
        n_ctx_train=header.context_length,
        n_experts=metadata.count(f"{header.architecture}.expert_count") or 0,
        odd_head=odd[0] if odd else None,
        heads_known=bool(keys and values),
        metadata=metadata,
        fit=fit if isinstance(fit, FitModel) else None,
    )
