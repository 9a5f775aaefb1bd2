"""The sampler chain, in C, built for each request."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from engine.protocol.types import Sampling
from engine.worker.native import Llama, Pointer

MAX_SEED = 0xFFFFFFFE
"""0xFFFFFFFF means "random" to llama.cpp."""

MIROSTAT_M = 100
"""Tokens that Mirostat 1 estimates with; the figure of its paper (arXiv 2007.14966)."""


class Sampler:
    """Penalties, DRY, the steps that narrow the choice, temperature, seeded draw: in llama.cpp's order. Close it.

    Greedy at temperature 0. Logit biases and grammar are not in the chain: `engine.worker.picker` adds them.

    Args:
        forbidden: Tokens that the chain itself leaves out, for where nobody adds the biases before it.
    """

    def __init__(
        self,
        llama: Llama,
        sampling: Sampling,
        *,
        n_vocab: int,
        n_ctx: int,
        vocab: Pointer | None = None,
        forbidden: Sequence[int] = (),
    ) -> None:
        self._api = llama.api
        self._sampling = sampling
        self._n_vocab, self._vocab = n_vocab, vocab
        self._penalised = 0 if _is_free(sampling) else _reach(sampling.repeat_last_n, n_ctx)
        self._dry = _reach(sampling.dry_penalty_last_n, n_ctx) if sampling.dry_multiplier > 0 and vocab else 0
        self.chain: Pointer = self._api.llama_sampler_chain_init(self._api.llama_sampler_chain_default_params())
        for part in (*self._forbidding(forbidden), *self._parts(seed_of(sampling))):
            self._api.llama_sampler_chain_add(self.chain, part)

    @property
    def is_plain_greedy(self) -> bool:
        """Always the token with the highest logit."""
        return self._sampling.temperature <= 0 and not (self._penalised or self._dry)

    @property
    def remembers(self) -> bool:
        """Whether the chain has to be told which tokens were chosen."""
        return bool(self._penalised or self._dry)

    @property
    def needed_candidates(self) -> int | None:
        """How many of the best tokens decide the outcome; None when all do.

        A penalty only lowers logits, of at most as many tokens as it remembers.
        """
        sampling = self._sampling
        raises = sampling.repeat_penalty < 1 or min(sampling.frequency_penalty, sampling.presence_penalty) < 0
        if self._penalised and raises:
            return None
        if sampling.temperature <= 0:
            return 1 + self._penalised + self._dry
        if sampling.mirostat or sampling.top_n_sigma > 0 or sampling.top_k <= 0:
            return None
        return sampling.top_k + self._penalised + self._dry

    def _forbidding(self, tokens: Sequence[int]) -> Iterator[Any]:
        if tokens:
            array = (self._api.llama_logit_bias * len(tokens))(*[(token, float("-inf")) for token in tokens])
            yield self._api.llama_sampler_init_logit_bias(self._n_vocab, len(tokens), array)

    def _parts(self, seed: int) -> Iterator[Any]:
        api, sampling = self._api, self._sampling
        if sampling.mirostat and sampling.temperature > 0:
            yield api.llama_sampler_init_temp(sampling.temperature)
            yield self._mirostat(seed)
            return
        if self._penalised > 0:
            yield api.llama_sampler_init_penalties(
                self._n_vocab,
                self._penalised,
                sampling.repeat_penalty or 1.0,
                sampling.frequency_penalty,
                sampling.presence_penalty,
            )
        if self._dry > 0:
            yield self._dry_sampler()
        if sampling.temperature <= 0:
            yield api.llama_sampler_init_greedy()
            return
        yield from self._narrowing(seed)
        yield (
            api.llama_sampler_init_temp_ext(sampling.temperature, sampling.dynatemp_range, sampling.dynatemp_exponent)
            if sampling.dynatemp_range > 0
            else api.llama_sampler_init_temp(sampling.temperature)
        )
        yield api.llama_sampler_init_dist(seed)

    def _mirostat(self, seed: int) -> Any:
        tau, eta = self._sampling.mirostat_tau, self._sampling.mirostat_eta
        if self._sampling.mirostat == 1:
            return self._api.llama_sampler_init_mirostat(self._n_vocab, seed, tau, eta, MIROSTAT_M)
        return self._api.llama_sampler_init_mirostat_v2(seed, tau, eta)

    def _dry_sampler(self) -> Any:
        sampling = self._sampling
        breakers = [text.encode("utf-8", "replace") for text in sampling.dry_sequence_breakers if text]
        array = (ctypes.c_char_p * max(1, len(breakers)))(*breakers)
        return self._api.llama_sampler_init_dry(
            self._vocab,
            sampling.dry_multiplier,
            sampling.dry_base,
            sampling.dry_allowed_length,
            self._dry,
            array,
            len(breakers),
        )

    def _narrowing(self, seed: int) -> Iterator[Any]:
        api, sampling = self._api, self._sampling
        if sampling.top_n_sigma > 0:
            yield api.llama_sampler_init_top_n_sigma(sampling.top_n_sigma)
        if sampling.top_k > 0:
            yield api.llama_sampler_init_top_k(sampling.top_k)
        if sampling.typical_p < 1:
            yield api.llama_sampler_init_typical(sampling.typical_p, 1)
        if sampling.top_p < 1:
            yield api.llama_sampler_init_top_p(sampling.top_p, 1)
        if sampling.min_p > 0:
            yield api.llama_sampler_init_min_p(sampling.min_p, 1)
        if sampling.xtc_probability > 0:
            yield api.llama_sampler_init_xtc(sampling.xtc_probability, sampling.xtc_threshold, 1, seed)

    def remember(self, tokens: Iterable[int]) -> None:
        """Let tokens that were not sampled count for the penalties: the prompt, and what was forced."""
        reach = max(self._penalised, self._dry)
        if reach > 0:
            for token in list(tokens)[-reach:]:
                self._api.llama_sampler_accept(self.chain, token)

    def close(self) -> None:
        """Free the chain and its parts."""
        self._api.llama_sampler_free(self.chain)


def _is_free(sampling: Sampling) -> bool:
    """Whether nothing is penalised for having been there."""
    return sampling.repeat_penalty in {0.0, 1.0} and not (sampling.frequency_penalty or sampling.presence_penalty)


def _reach(last_n: int, n_ctx: int) -> int:
    return last_n if last_n >= 0 else n_ctx


def seed_of(sampling: Sampling) -> int:
    """The seed to use: the given one, or a random one."""
    if sampling.seed is None:
        return random.SystemRandom().randint(0, MAX_SEED)
    return sampling.seed % (MAX_SEED + 1)
