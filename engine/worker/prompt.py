"""Tokens of a prompt into the KV cache."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Final

from engine.errors import VrambleError
from engine.worker.cancel import CancelFlag
from engine.worker.model import LoadedModel
from engine.worker.overflow import part_to_drop

DECODE_OK, DECODE_NO_SLOT, DECODE_ABORTED = 0, 1, 2
_OUT_OF_MEMORY = -2

OPENING: Final = 8
"""Tokens at the end of a prompt that the next prompt of the conversation need not have: where the answer begins."""


class PromptCancelled(Exception):  # noqa: N818 - no error
    """The request was cancelled before its first token."""


def check_room(n_prompt: int, n_ctx: int) -> None:
    """Refuse a prompt that leaves no room for an answer."""
    if n_prompt >= n_ctx:
        raise VrambleError(
            "context-exceeded",
            f"The conversation takes {n_prompt} tokens, but the context holds {n_ctx}.",
            "Start a new chat, shorten the text, or load the model with a longer context.",
            f"prompt {n_prompt} tokens, context {n_ctx} tokens",
        )


def evaluate(
    loaded: LoadedModel,
    prompt: list[int],
    cancel: CancelFlag,
    progress: Callable[[int, int], None],
    *,
    shortened: bool = False,
) -> int:
    """Compute the part of ``prompt`` that is not in the cache, slice by slice. Gives the number of tokens reused.

    ``shortened``: the oldest part was left out of it, so what follows may be in the cache, further behind.

    Raises:
        PromptCancelled: finished slices stay in the cache.
        VrambleError: ``decode-failed``, ``out-of-memory``.
    """
    cache = loaded.cache
    if shortened:
        cache.reuse_shifted(prompt)
    reused = cache.reuse(prompt)
    last = max(reused, len(prompt) - OPENING) if not cache.goes_back else 0
    progress(reused, len(prompt))
    start = time.monotonic()
    while len(cache.tokens) < len(prompt):
        if cancel.is_set:
            raise PromptCancelled
        done = len(cache.tokens)
        if done == last:
            cache.checkpoint()
        part = prompt[done : min(done + loaded.pace.tokens, last if done < last else len(prompt))]
        begin = time.monotonic()
        decode(loaded, (ctypes.c_int32 * len(part))(*part), len(part))
        loaded.pace.took(len(part), time.monotonic() - begin)
        cache.tokens += part
        progress(len(cache.tokens), len(prompt))
    loaded.conversations.disk.computed(len(prompt) - reused, time.monotonic() - start)
    return reused


def make_room(loaded: LoadedModel, head: int, cancel: CancelFlag) -> None:
    """Leave out half of what follows the first ``head`` tokens in the cache, and let the rest move up.

    Where the memory cannot move (sliding windows, recurrent states, several positions for each token) the tokens that
    are left are computed again.

    Raises:
        PromptCancelled, VrambleError: As `evaluate`; the cache is shorter then.
    """
    cache = loaded.cache
    part = part_to_drop(len(cache.tokens), head, loaded.info.n_ctx)
    if part is None or cache.drop(*part):
        return
    start, end = part
    evaluate(loaded, [*cache.tokens[:start], *cache.tokens[end:]], cancel, lambda _done, _total: None)


def decode(loaded: LoadedModel, tokens: ctypes.Array[ctypes.c_int32], count: int) -> None:
    """One decode call for tokens that follow the cache. Waits for the result."""
    api = loaded.llama.api
    result = api.llama_decode(loaded.context, api.llama_batch_get_one(tokens, count))
    api.llama_synchronize(loaded.context)
    if result != DECODE_OK:
        raise decode_problem(loaded, result)


def decode_problem(loaded: LoadedModel, result: int) -> Exception:
    """What a decode result other than 0 means; the cache is made to agree with its tokens again."""
    loaded.cache.after_abort()
    if result == DECODE_ABORTED:
        return PromptCancelled()
    log = loaded.llama.log.tail()
    if result in {DECODE_NO_SLOT, _OUT_OF_MEMORY}:
        return VrambleError(
            "out-of-memory",
            "There was not enough memory to go on.",
            "Load the model with a shorter context or fewer GPU layers.",
            log,
        )
    return VrambleError("decode-failed", f"The engine failed while computing (code {result}).", "Try again.", log)
