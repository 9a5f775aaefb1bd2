"""What choosing load options needs to know of a model file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.library.gguf.metadata import Metadata
from engine.loading.rope import TrainedContext, reach
from engine.loading.suits import original_context
from engine.protocol.types import LoadOptions

if TYPE_CHECKING:
    from engine.memory.fit.records import FitModel


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
