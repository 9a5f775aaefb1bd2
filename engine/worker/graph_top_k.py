"""The best tokens found on the GPU, inside the compute graph, so that only they come back (``llama_set_sampler``).

Without it all logits are copied, 0.6 MB a token for 150,000 tokens, and a chain of samplers starts with sorting them
out on the processor: 90 us a token on a machine whose GPU takes 900 for a small model. See ADR 12.

llama.cpp takes one chain of samplers for each sequence and plans its buffers anew at the next token whenever that
changes. So the chain stays, from one answer to the next, until something needs all logits.
"""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np

from engine.worker.native import Llama, Pointer

CANDIDATES: Final = 128
"""Tokens that come back: enough for a top-k of 40, which most models are used with, a repeat penalty that remembers 64
tokens, and some that are forbidden."""

TOLERANCE: Final = 1e-3
"""Logits of the same token, computed twice, differ by less."""


class GraphTopK:
    """The best `CANDIDATES` tokens of each sequence of a context, where that is wanted. Close it before the context.

    Args:
        on: False: never.
    """

    def __init__(self, llama: Llama, context: Pointer, n_vocab: int, *, on: bool) -> None:
        self._api, self._context, self._n_vocab = llama.api, context, n_vocab
        self._on = on and hasattr(llama.api, "llama_set_sampler") and n_vocab > 2 * CANDIDATES
        self._chains: dict[int, Pointer] = {}
        """Of the sequences that have one in the graph."""

    @property
    def on(self) -> bool:
        """Whether any sequence may use it."""
        return self._on

    def use(self, sequence: int, *, wanted: bool) -> bool:
        """From the next decode call on: whether candidates come back for ``sequence`` instead of all logits."""
        if not (wanted and self._on):
            self._take_out(sequence)
            return False
        if sequence not in self._chains:
            self._on = self._put_in(sequence)
        return self._on

    def leave(self) -> None:
        """All logits come back for all sequences."""
        for sequence in tuple(self._chains):
            self._take_out(sequence)

    def check(self, token: int) -> None:
        """Compute ``token`` in the empty first sequence both ways; where they disagree, all logits are used for good.

        What is in the cache afterwards is of no use.
        """
        if not self._on:
            return
        every = self._every() if self._computed(token) else []
        self._api.llama_memory_clear(self._api.llama_get_memory(self._context), False)
        self._on = bool(every) and self.use(0, wanted=True) and self._computed(token) and self._agrees(every)
        if not self._on:
            self.leave()

    def close(self) -> None:
        """Take the chains out of the context and free them."""
        self.leave()

    def _put_in(self, sequence: int) -> bool:
        """llama.cpp's word on whether the graph has it. A chain is put in only once."""
        api = self._api
        chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        api.llama_sampler_chain_add(chain, api.llama_sampler_init_top_k(CANDIDATES))
        if api.llama_set_sampler(self._context, sequence, chain):
            self._chains[sequence] = chain
            return True
        api.llama_sampler_free(chain)
        return False

    def _take_out(self, sequence: int) -> None:
        chain = self._chains.pop(sequence, None)
        if chain is not None:
            self._api.llama_set_sampler(self._context, sequence, None)
            self._api.llama_sampler_free(chain)

    def _computed(self, token: int) -> bool:
        cell = ctypes.c_int32(token)
        result = self._api.llama_decode(self._context, self._api.llama_batch_get_one(ctypes.pointer(cell), 1))
        self._api.llama_synchronize(self._context)
        return bool(result == 0)

    def _every(self) -> list[float]:
        """All logits of the last token."""
        pointer = self._api.llama_get_logits_ith(self._context, -1)
        return list(np.ctypeslib.as_array(pointer, (self._n_vocab,)).tolist()) if pointer else []

    def _agrees(self, every: list[float]) -> bool:
        """The candidates are tokens of the best logits, each once, with the logits they have."""
        pairs = self._candidates()
        if len(pairs) != CANDIDATES or len({token for token, _ in pairs}) != CANDIDATES:
            return False
        worst = sorted(every, reverse=True)[CANDIDATES - 1]
        return all(
            0 <= token < self._n_vocab and abs(every[token] - logit) <= TOLERANCE and logit >= worst - TOLERANCE
            for token, logit in pairs
        )

    def _candidates(self) -> list[tuple[int, float]]:
        """Ids and logits that came back for the last token; empty: none did."""
        api, context = self._api, self._context
        ids = api.llama_get_sampled_candidates_ith(context, -1)
        logits = api.llama_get_sampled_logits_ith(context, -1)
        if not (ids and logits):
            return []
        count = int(api.llama_get_sampled_logits_count_ith(context, -1))
        return list(zip(ids[:count], logits[:count], strict=True))
