"""A small model that guesses for a large one with the same vocabulary."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import Final

import numpy as np

from engine.worker.cancel import Stop
from engine.worker.native import Llama, Pointer
from engine.worker.pace import Pace
from engine.worker.picker import logits_address
from engine.worker.prompt_cache import PromptCache, common_prefix

_FLOATS = ctypes.POINTER(ctypes.c_float)
_DECODED: Final = 0
_ABORTED: Final = 2


class DraftModel:
    """A drafter with a model and a context of its own. It guesses the likeliest token each time.

    What it reads stays in its KV cache from answer to answer, as far as they begin alike.

    Args:
        cache: Of its context.
        n_vocab: Logits that it gives.
        known: Tokens of the large model; those behind are never guessed.
        least_p: It stops at a token that it gives less probability.
    """

    def __init__(
        self,
        llama: Llama,
        model: Pointer,
        context: Pointer,
        cache: PromptCache,
        *,
        n_vocab: int,
        known: int,
        least_p: float,
        pace: Pace,
    ) -> None:
        self._api, self._model, self._context = llama.api, model, context
        self._cache, self._n_vocab, self._known = cache, n_vocab, min(n_vocab, known)
        self._least_p, self._pace = least_p, pace
        self._logits_address = logits_address(llama.api)
        self._agreed = 0
        """So many tokens in the cache are surely those of the conversation."""

        self._failed = False

    def forget(self) -> None:
        """All tokens are compared with the next guess."""
        self._agreed, self._failed = 0, False

    def draft(self, tokens: Sequence[int], last: int, most: int, stop: Stop) -> list[int]:
        """The likeliest tokens behind ``tokens`` and ``last``, up to one that it is not sure of."""
        if self._failed or not self._follow(tokens, last, stop):
            return []
        guess: list[int] = []
        while len(guess) < most:
            token, probability = self._likeliest()
            if probability < self._least_p:
                break
            guess.append(token)
            if len(guess) < most and not self._read([token]):
                break
        return guess

    def close(self) -> None:
        """Free context and model."""
        self._api.llama_free(self._context)
        self._api.llama_model_free(self._model)

    def _follow(self, tokens: Sequence[int], last: int, stop: Stop) -> bool:
        """Read what the conversation has beyond the cache; false: that was ended or failed."""
        news = self._news(tokens, last)
        self._agreed = 0
        while news:
            if stop.is_set:
                return False
            part, begin = news[: self._pace.tokens], time.monotonic()
            if not self._read(part):
                return False
            self._pace.took(len(part), time.monotonic() - begin)
            del news[: len(part)]
        self._agreed = len(tokens) + 1
        return True

    def _news(self, tokens: Sequence[int], last: int) -> list[int]:
        """Let the cache hold nothing but the beginning of the conversation; what is missing, ``last`` at least."""
        cache, agreed = self._cache, self._agreed
        if not agreed:
            whole = [*tokens, last]
            cache.reuse_shifted(whole)
            return whole[cache.reuse(whole) :]
        news = [*tokens[agreed:], last]
        same = min(common_prefix(cache.tokens[agreed:], news), len(news) - 1)
        kept = cache.keep(agreed + same)
        return news[same:] if kept == agreed + same else [*tokens[kept:], last]

    def _read(self, part: list[int]) -> bool:
        """Compute tokens that follow the cache and wait. One that only the large model has is read as another one."""
        api = self._api
        cells = (ctypes.c_int32 * len(part))(*(token if token < self._n_vocab else 0 for token in part))
        result = api.llama_decode(self._context, api.llama_batch_get_one(cells, len(part)))
        api.llama_synchronize(self._context)
        if result != _DECODED:
            self._failed = result != _ABORTED
            self._cache.after_abort()
            return False
        self._cache.tokens += part
        return True

    def _likeliest(self) -> tuple[int, float]:
        """The best token that both models know, and its probability."""
        address = self._logits_address(self._context, -1)
        logits = np.ctypeslib.as_array(ctypes.cast(address, _FLOATS), (self._n_vocab,))[: self._known]
        token = int(logits.argmax())
        return token, float(1.0 / np.exp(logits - logits[token]).sum())
