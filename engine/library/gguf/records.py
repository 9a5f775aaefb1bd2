"""What the header of a GGUF file says."""

from __future__ import annotations

import msgspec

from engine.library.states import FileState


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """Place of a file in a split set: ``no`` counts from 0."""

    no: int
    count: int


class ModelHeader(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of one GGUF file that was read whole and is as long as it says.

    Attributes:
        version: Version of the format, 2 or 3.
        architecture: ``general.architecture``; empty when the file names none.
        name: ``general.name``, or empty.
        kind: ``general.type``: ``model``, ``adapter``, ``imatrix``, ``mmproj`` or empty.
        quant: Label such as ``Q4_K_M``; empty when the file has no tensors.
        n_params: Weights in this file (one shard of a split set has its own only).
        n_layers: Block count, None when not given.
        context_length: Trained context in tokens, None when not given.
        embedding_length: Width of the model, None when not given.
        has_template: A chat template that is not blank is present.
        pooling: Pooling type of an embedding or reranking model; None or 0 for others.
        split: Place in a split set, None for a single file.
        n_tensors: Tensors in this file.
        tensor_bytes: Sum of the tensors' sizes in bytes, padding not counted.
        data_start: Offset of the tensor data in bytes: the header ends before it.
        implied_size: Bytes that the file needs to hold all its tensors.
        warnings: Sentences about what is odd but harmless for loading.
        licence: ``general.license``, or its name; empty when the file does not say.
    """

    version: int
    architecture: str
    name: str
    kind: str
    quant: str
    n_params: int
    n_layers: int | None
    context_length: int | None
    embedding_length: int | None
    has_template: bool
    pooling: int | None
    split: Split | None
    n_tensors: int
    tensor_bytes: int
    data_start: int
    implied_size: int
    warnings: tuple[str, ...] = ()
    licence: str = ""


class HeaderProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why a file cannot be used.

    Attributes:
        state: The kind of problem, never ``ok``.
        message: One sentence for the user.
        missing_bytes: For an incomplete file how much is missing, where that is known.
    """

    state: FileState
    message: str
    missing_bytes: int | None = None
