"""Tokens of a prompt into the KV cache."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from typing import Final

from engine.errors import VrambleError
from engine.worker.cancel import Stop
from engine.worker.model import LoadedModel
from engine.worker.overflow import part_to_drop
from engine.worker.prompt_cache import PromptCache
from engine.worker.sequence_batch import sequence_batch

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


def begin_prompt(cache: PromptCache, prompt: list[int], *, shortened: bool = False) -> int:
    """Make ``cache`` hold nothing but the beginning of ``prompt``; how many tokens that spares.

    ``shortened``: the oldest part was left out of it, so what follows may be in the cache, further behind.
    """
    if shortened:
        cache.reuse_shifted(prompt)
    return cache.reuse(prompt)


def next_slice(cache: PromptCache, prompt: list[int], most: int) -> list[int]:
    """The next tokens of ``prompt``. Before the last ones the cache may need a checkpoint."""
    done = len(cache.tokens)
    last = 0 if cache.goes_back else len(prompt) - OPENING
    if done == last:
        cache.checkpoint()
    return prompt[done : min(done + most, last if done < last else len(prompt))]


def evaluate(
    loaded: LoadedModel,
    prompt: list[int],
    cancel: Stop,
    progress: Callable[[int, int], None],
    cache: PromptCache | None = None,
) -> None:
    """Compute what ``cache`` lacks of ``prompt``, slice by slice; it holds the beginning and nothing else.

    Args:
        progress: Called with tokens done and of how many, after each slice.
        cache: None: the first sequence.

    Raises:
        PromptCancelled: finished slices stay in the cache.
        VrambleError: ``decode-failed``, ``out-of-memory``.
    """
    cache = cache or loaded.cache
    begun, start = len(cache.tokens), time.monotonic()
    while len(cache.tokens) < len(prompt):
        if cancel.is_set:
            raise PromptCancelled
        part = next_slice(cache, prompt, loaded.pace.tokens)
        begin = time.monotonic()
        decode(loaded, (ctypes.c_int32 * len(part))(*part), len(part), cache)
        loaded.pace.took(len(part), time.monotonic() - begin)
        cache.tokens += part
        progress(len(cache.tokens), len(prompt))
    loaded.conversations.disk.computed(len(prompt) - begun, time.monotonic() - start)


def make_room(loaded: LoadedModel, head: int, cancel: Stop, cache: PromptCache | None = None) -> bool:
    """Leave out half of what follows the first ``head`` tokens in the cache, and let the rest move up.

    Where the memory cannot move (sliding windows, recurrent states, several positions for each token) the tokens that
    are left are computed again: true, and the logits of the last one are new.

    Raises:
        PromptCancelled, VrambleError: As `evaluate`; the cache is shorter then.
    """
    cache = cache or loaded.cache
    part = part_to_drop(len(cache.tokens), head, loaded.info.n_ctx)
    if part is None or cache.drop(*part):
        return False
    start, end = part
    left = [*cache.tokens[:start], *cache.tokens[end:]]
    begin_prompt(cache, left)
    evaluate(loaded, left, cancel, lambda _done, _total: None, cache)
    return True


def decode(
    loaded: LoadedModel, tokens: ctypes.Array[ctypes.c_int32], count: int, cache: PromptCache | None = None
) -> None:
    """One decode call for tokens that follow the cache (None: the first sequence). Waits for the result."""
    api, cache = loaded.llama.api, cache or loaded.cache
    result = api.llama_decode(loaded.context, sequence_batch(api, tokens, count, cache.sequence))
    api.llama_synchronize(loaded.context)
    if result != DECODE_OK:
        raise decode_problem(loaded, result, cache)


def decode_problem(loaded: LoadedModel, result: int, cache: PromptCache | None = None) -> Exception:
    """What a decode result other than 0 means; the cache is made to agree with its tokens again."""
    (cache or loaded.cache).after_abort()
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
