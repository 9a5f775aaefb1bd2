"""The next token from the logits: the sampler chain in C, given only the tokens that can still win.

``llama_sampler_sample`` copies every token of the vocabulary into an array and then sorts out the best ones: 0.1 to
0.3 ms for 49,000 tokens, several times that for Gemma's 262,000. A chain that begins with top-k keeps no token
below the k-th best, so numpy picks the tokens near the maximum (some 20 us) and the chain sees just these. The result
is the same token; a test compares both ways.

With a grammar the chain chooses first. Only a token that the grammar refuses costs a look at the whole vocabulary.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.errors import VrambleError
from engine.worker.constraint import Constraint, Ids, Logits
from engine.worker.native import Llama, Pointer
from engine.worker.sampler import Sampler
from engine.worker.vocabulary import NO_TOKEN

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama_token_data of llama.h."""

FIRST_DEPTH = 8.0
"""Distance below the best logit that is looked at first, in logits."""

PLENTY = 8
"""So many times the needed tokens found: look less deep the next time."""

LARGEST_NEED = 2000
"""Above this the whole array is no slower."""


class Picker:
    """Picks the tokens of one answer.

    Args:
        n_vocab: Number of logits the model gives.
        biases: Token -> what is added to its logit; minus infinity forbids it.
    """

    def __init__(
        self,
        llama: Llama,
        context: Pointer,
        sampler: Sampler,
        n_vocab: int,
        biases: Mapping[int, float] | None = None,
    ) -> None:
        self._api = llama.api
        self._context, self._sampler, self._n_vocab = context, sampler, n_vocab
        self._depth = FIRST_DEPTH
        self._address = 0
        self._logits: Logits = np.empty(0, np.float32)
        self._buffer = np.zeros(n_vocab, TOKEN_DATA)
        self._array: Any = self._api.llama_token_data_array()
        self._reference = ctypes.byref(self._array)
        self._data = ctypes.cast(self._buffer.ctypes.data, self._api.llama_token_data_p)
        need = sampler.needed_candidates
        self._need = need if need is not None and need <= min(LARGEST_NEED, n_vocab) else None
        self._greedy = sampler.is_plain_greedy
        known = {token: bias for token, bias in (biases or {}).items() if 0 <= token < n_vocab}
        self._biased = np.array(list(known), np.intp)
        self._biases = np.array(list(known.values()), np.float32)
        self.constraint: Constraint | None = None
        """What the next tokens have to keep to; set and taken away between two calls of `pick`."""

    def pick(self) -> int:
        """The next token; the chain has accepted it.

        Raises:
            VrambleError: ``bad-logits``: the model computed no number; ``grammar-stuck``: no token fits the grammar.
        """
        if self._need is None and self.constraint is None and not len(self._biased):
            return int(self._api.llama_sampler_sample(self._sampler.chain, self._context, -1))
        logits = self._view()
        if len(self._biased):
            logits[self._biased] += self._biases
        if self.constraint is not None:
            return self._pick_within(self.constraint, logits)
        token = self._choose(logits)
        if not self._greedy:
            self._api.llama_sampler_accept(self._sampler.chain, token)
        return token

    def _pick_within(self, constraint: Constraint, logits: Logits) -> int:
        constraint.hide(logits)
        token = self._choose(logits)
        if not constraint.allows(token):
            token = self._pick_allowed(constraint, logits)
        if token == NO_TOKEN:
            return token
        constraint.accept(token)
        self._api.llama_sampler_accept(self._sampler.chain, token)
        return token

    def _choose(self, logits: Logits) -> int:
        best = logits.max()
        if not np.isfinite(best):
            raise VrambleError(
                "bad-logits",
                "The model computed no valid numbers.",
                "Try another device or another model file.",
            )
        if self._greedy:
            return int(logits.argmax())
        return self._choose_from(self._candidates(logits, float(best)), logits)

    def _view(self) -> Logits:
        pointer = self._api.llama_get_logits_ith(self._context, -1)
        address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
        if address != self._address:
            self._address = address
            self._logits = np.ctypeslib.as_array(pointer, (self._n_vocab,))
        return self._logits

    def _candidates(self, logits: Logits, best: float) -> Ids:
        """Ids of the tokens that decide: at least as many as the chain needs, the best ones among them."""
        need = self._need
        if need is None:
            return np.arange(self._n_vocab)
        while True:
            found = np.flatnonzero(logits >= best - self._depth)
            if len(found) >= need:
                break
            if self._depth > 1e6:
                return np.arange(self._n_vocab)
            self._depth *= 1.5
        if len(found) > PLENTY * need:
            self._depth *= 0.9
        return found

    def _pick_allowed(self, constraint: Constraint, logits: Logits) -> int:
        """The chain's choice among all tokens that the grammar allows now; `NO_TOKEN` when it is complete."""
        finite = np.flatnonzero(logits > -np.inf)
        self._fill(finite, logits)
        found = constraint.allowed(self._buffer[: len(finite)], self._reference)
        while len(found):
            token = self._choose_from(found, logits)
            if constraint.is_text(token):
                return token
            found = found[found != token]
        if constraint.ends_by_itself:
            return NO_TOKEN
        raise VrambleError(
            "grammar-stuck",
            "No token of this model fits the grammar at this point.",
            "Change the grammar, or choose another model.",
        )

    def _choose_from(self, ids: Ids, logits: Logits) -> int:
        self._fill(ids, logits)
        self._api.llama_sampler_apply(self._sampler.chain, self._reference)
        return int(self._array.data[self._array.selected].id)  # XTC moves the beginning of the data

    def _fill(self, ids: Ids, logits: Logits) -> None:
        size = len(ids)
        rows = self._buffer[:size]
        rows["id"] = ids
        rows["logit"] = logits[ids]
        rows["p"] = 0.0
        array = self._array
        array.data, array.size, array.selected, array.sorted = self._data, size, -1, False
