"""What a forecast knows of a model. Sizes are bytes."""

from __future__ import annotations

import msgspec


class LayerCache(msgspec.Struct, frozen=True):
    """What one layer keeps for one sequence.

    Attributes:
        keys: Values for each token of context that are stored as keys.
        values: The same for values.
        window: Tokens that the layer looks back at; 0: the whole context.
        state: Bytes of recurrent state, whatever the context.
    """

    keys: int = 0
    values: int = 0
    window: int = 0
    state: int = 0


class Piece(msgspec.Struct, frozen=True):
    """Tensors that always go to the same place, taken together.

    Attributes:
        layer: Number of the block; `INPUT`, or the number of blocks for the output.
        n_bytes: Their size.
        expert: All experts of a layer in one tensor: ``n_cpu_moe`` keeps these in RAM.
        huge: One tensor of more than `HUGE` bytes.
    """

    layer: int
    n_bytes: int
    expert: bool = False
    huge: bool = False


INPUT = -1
HUGE = 128 << 20  # what llvmpipe's ``maxStorageBufferRange`` allows


class FitModel(msgspec.Struct, frozen=True, kw_only=True):
    """What the header of a model says about the memory that it needs.

    Attributes:
        n_layers: Blocks; llama.cpp counts the output as one more.
        width: Size of an embedding.
        n_vocab: Tokens.
        n_ff: Values for each token in the widest feed-forward step.
        n_heads: Most attention heads of a layer.
        n_attention: Values for each token in attention: queries, and what the heads give.
        n_experts: 0 for dense models.
        n_experts_used: Of these for each token.
        pieces: All weights; those of skipped prediction layers are left out, a tied output counts once.
        largest: Bytes of a block's largest tensor without experts; ``largest_expert`` of one with them.
        tied: Bytes of the embeddings when they are the output too (twice on a GPU); ``tied_kind`` is their type.
        caches: One for each layer.
        quantised_kv: The heads divide into the blocks of a quantised KV cache.
        known_cache: False for architectures whose cache is only guessed.
        image: Bytes of the image encoder that is loaded with the model, on its device.
        image_host: Bytes that the encoder takes of the RAM when its device is a GPU.
        adapters: Bytes of the LoRA adapters that are laid over it, spread over its layers.
        draft: The smaller model that guesses its next tokens.
    """

    name: str = ""
    architecture: str = ""
    quant: str = ""
    n_layers: int
    context_length: int = 0
    width: int = 0
    n_vocab: int = 0
    n_ff: int = 0
    n_heads: int = 0
    n_attention: int = 0
    n_experts: int = 0
    n_experts_used: int = 0
    pieces: tuple[Piece, ...] = ()
    largest: int = 0
    largest_expert: int = 0
    tied: int = 0
    tied_kind: str = ""
    caches: tuple[LayerCache, ...] = ()
    quantised_kv: bool = True
    known_cache: bool = True
    image: int = 0
    image_host: int = 0
    adapters: int = 0
    draft: FitModel | None = None

    @property
    def max_layers(self) -> int:
        """Layers as llama.cpp counts those of the GPU: the output is one more."""
        return self.n_layers + 1

    @property
    def weights(self) -> int:
        """Bytes of all weights, each once."""
        return sum(piece.n_bytes for piece in self.pieces)
