"""Which models could guess for another one, as far as their headers say. The worker compares token by token."""

from __future__ import annotations

from typing import Final

from engine.loading.facts import ModelFacts

MOST_APART: Final = 128
"""So many tokens one vocabulary may have more than the other: files of one family are padded differently. The figure
of llama.cpp (``common/speculative.cpp``)."""

_SAME: Final = ("tokenizer.ggml.model", "tokenizer.ggml.pre")


def may_draft(target: ModelFacts, draft: ModelFacts) -> bool:
    """Whether ``draft`` may have the vocabulary of ``target``: true while one of them is not known."""
    if target.fit is None or draft.fit is None:
        return True
    sizes = target.fit.n_vocab, draft.fit.n_vocab
    if all(sizes) and abs(sizes[0] - sizes[1]) > MOST_APART:
        return False
    return all(target.metadata.text(key) == draft.metadata.text(key) for key in _SAME)
