"""Whether two models mean the same by a token."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from engine.errors import VrambleError
from engine.loading.drafts import MOST_APART
from engine.worker.native import Llama, Pointer
from engine.worker.validate import load_failure

FIRST_COMPARED: Final = 5
"""Tokens before it mark beginning, end and the unknown; tuned models name them anew."""

OTHER_DRAFT: Final = "Choose a smaller model of the same family as draft model, or load without one."


def check_vocabularies(llama: Llama, target: Path, draft: Path) -> None:
    """Refuse a draft model with other tokens. Reads both vocabularies and no weights.

    The rules and figures are those of ``common_speculative_are_compatible`` in llama.cpp.

    Raises:
        VrambleError: ``draft-mismatch``, and what a file that cannot be read ends in.
    """
    with _vocabulary(llama, target) as theirs, _vocabulary(llama, draft) as own:
        if not _same(llama, theirs, own):
            message = f"{draft.name} cannot guess for {target.name}: their vocabularies are not the same."
            raise VrambleError("draft-mismatch", message, OTHER_DRAFT)


@contextmanager
def _vocabulary(llama: Llama, path: Path) -> Iterator[Pointer]:
    api = llama.api
    params = api.llama_model_default_params()
    params.vocab_only = True
    model = api.llama_model_load_from_file(os.fsencode(path), params)
    if not model:
        raise load_failure(path, llama.log.tail(), llama.version)
    try:
        yield api.llama_model_get_vocab(model)
    finally:
        api.llama_model_free(model)


def _same(llama: Llama, left: Pointer, right: Pointer) -> bool:
    api = llama.api
    both = (left, right)
    if len({api.llama_vocab_type(vocab) for vocab in both}) > 1:
        return False
    for adds, token in (
        (api.llama_vocab_get_add_bos, api.llama_vocab_bos),
        (api.llama_vocab_get_add_eos, api.llama_vocab_eos),
    ):
        if adds(left) != adds(right) or (adds(left) and token(left) != token(right)):
            return False
    sizes = [api.llama_vocab_n_tokens(vocab) for vocab in both]
    text = api.llama_vocab_get_text
    return abs(sizes[0] - sizes[1]) <= MOST_APART and all(
        text(left, token) == text(right, token) for token in range(FIRST_COMPARED, min(sizes))
    )
