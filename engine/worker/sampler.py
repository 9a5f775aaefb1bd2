"""The sampler chain, in C, built for each request."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from engine.protocol.types import Sampling
from engine.worker.native import Llama, Pointer

MAX_SEED = 0xFFFFFFFE
"""0xFFFFFFFF means "random" to llama.cpp."""


class Sampler:
    """Penalties, top-k, top-p, min-p, temperature, seeded draw; greedy at temperature 0. Close it."""

    def __init__(self, llama: Llama, sampling: Sampling, *, n_vocab: int, n_ctx: int) -> None:
        self._api = llama.api
        self.chain: Pointer = self._api.llama_sampler_chain_init(self._api.llama_sampler_chain_default_params())
        last_n = sampling.repeat_last_n if sampling.repeat_last_n >= 0 else n_ctx
        self._remembers = last_n if sampling.repeat_penalty not in {0.0, 1.0} else 0
        self._sampling = sampling
        for part in self._parts(sampling, n_vocab):
            self._api.llama_sampler_chain_add(self.chain, part)

    @property
    def is_plain_greedy(self) -> bool:
        """Always the token with the highest logit."""
        return self._sampling.temperature <= 0 and not self._remembers

    @property
    def needed_candidates(self) -> int | None:
        """How many of the best tokens decide the outcome; None when all do.

        A penalty above 1 only lowers logits, of at most as many tokens as it remembers.
        """
        if self._remembers and self._sampling.repeat_penalty < 1:
            return None
        kept = 1 if self._sampling.temperature <= 0 else self._sampling.top_k
        return kept + self._remembers if kept > 0 else None

    def _parts(self, sampling: Sampling, n_vocab: int) -> Iterable[Any]:
        api = self._api
        if self._remembers > 0:
            yield api.llama_sampler_init_penalties(n_vocab, self._remembers, sampling.repeat_penalty, 0.0, 0.0)
        if sampling.temperature <= 0:
            yield api.llama_sampler_init_greedy()
            return
        if sampling.top_k > 0:
            yield api.llama_sampler_init_top_k(sampling.top_k)
        if sampling.top_p < 1:
            yield api.llama_sampler_init_top_p(sampling.top_p, 1)
        if sampling.min_p > 0:
            yield api.llama_sampler_init_min_p(sampling.min_p, 1)
        yield api.llama_sampler_init_temp(sampling.temperature)
        yield api.llama_sampler_init_dist(seed_of(sampling))

    def remember(self, prompt: list[int]) -> None:
        """Let the end of the prompt count for the repeat penalty."""
        if self._remembers > 0:
            for token in prompt[-self._remembers :]:
                self._api.llama_sampler_accept(self.chain, token)

    def close(self) -> None:
        """Free the chain and its parts."""
        self._api.llama_sampler_free(self.chain)


def seed_of(sampling: Sampling) -> int:
    """The seed to use: the given one, or a random one."""
    if sampling.seed is None:
        return random.SystemRandom().randint(0, MAX_SEED)
    return sampling.seed % (MAX_SEED + 1)
