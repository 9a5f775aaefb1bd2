"""Facts of a model, read from the header of its file."""

from __future__ import annotations

from pathlib import Path

from engine.library.gguf import Contents, read_file_contents
from engine.loading.facts import ModelFacts
from engine.loading.metadata import key_and_value_sizes
from engine.loading.suits import KV_BLOCK
from engine.memory.fit import FitModel, model_of, read_model


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


def adapter_bytes(path: Path) -> int | None:
    """What a LoRA adapter takes: its tensors are nearly all of its file. None: it is not there."""
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return None
