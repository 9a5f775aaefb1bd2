"""Run by tests, in a process of its own: what a model says behind a shortened context.

    python -m tests.engine.worker.shift_probe MODEL N_CTX HEAD [fast]

Fills the context with tokens, makes room, and goes on greedily; then computes the very tokens that were left from
nothing and goes on likewise. Prints both continuations and whether the memory could move, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.backends.catalogue import Catalogue
from engine.protocol.types import LoadOptions
from engine.worker.cancel import CancelFlag
from engine.worker.loader import Loader
from engine.worker.log import NativeLog
from engine.worker.model import LoadedModel
from engine.worker.native import load_llama
from engine.worker.prompt import decode, evaluate, make_room
from engine.worker.templates.process import TemplateProcess

GOES_ON = 24
NEXT = 77
"""The token that needed the room: it was chosen before, by all that was there."""


def silent(_done: int, _total: int) -> None:
    """Nobody watches."""


def loaded_model(path: Path, n_ctx: int, cancel: CancelFlag) -> LoadedModel:
    """The model, as the worker loads it."""
    llama = load_llama(NativeLog(debug=False))
    catalogue = Catalogue.load(llama.ggml, llama.library)
    options = LoadOptions(n_ctx=n_ctx, device="cpu", n_threads=1)
    return Loader(llama, catalogue, TemplateProcess(), cancel).load(path, options, lambda _parts: None)


def best(loaded: LoadedModel) -> int:
    """The likeliest next token."""
    logits = loaded.llama.api.llama_get_logits_ith(loaded.context, -1)
    return max(range(loaded.vocabulary.size), key=lambda token: logits[token])


def read(loaded: LoadedModel, token: int) -> None:
    """One token."""
    decode(loaded, (ctypes.c_int32 * 1)(token), 1)
    loaded.cache.tokens.append(token)


def say(loaded: LoadedModel, count: int) -> list[int]:
    """The next tokens."""
    said = []
    for _ in range(count):
        said.append(best(loaded))
        read(loaded, said[-1])
    return said


def main(arguments: Sequence[str]) -> None:
    """Do it."""
    path, n_ctx, head = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    cancel = CancelFlag()
    loaded = loaded_model(path, n_ctx, cancel)
    prompt = [1, *(3 + (7 * place * place) % 250 for place in range(n_ctx - 9))]
    evaluate(loaded, prompt, cancel, silent)
    say(loaded, n_ctx - len(loaded.cache.tokens))
    full = list(loaded.cache.tokens)
    moved = bool(
        loaded.cache.goes_back
        and loaded.llama.api.llama_memory_can_shift(loaded.llama.api.llama_get_memory(loaded.context))
    )
    make_room(loaded, head, cancel)
    left = list(loaded.cache.tokens)
    read(loaded, NEXT)
    shifted = say(loaded, GOES_ON)
    loaded.cache.clear()
    evaluate(loaded, left, cancel, silent)
    read(loaded, NEXT)
    computed = say(loaded, GOES_ON)
    print(json.dumps({"full": full, "left": left, "shifted": shifted, "computed": computed, "moved": moved}))


if __name__ == "__main__":
    main(sys.argv[1:])
