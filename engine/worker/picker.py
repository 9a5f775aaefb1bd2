"""The next token from the logits: the sampler chain in C, given only the tokens that can still win.

``llama_sampler_sample`` copies every token of the vocabulary into an array and then sorts out the best ones: 0.1 ms for
49,000 tokens, several times that for Gemma's 262,000. A chain that begins with top-k keeps no token below the k-th
best, so numpy picks the tokens near the maximum and the chain sees just these. The result is the same token; a test
compares both ways. Which way is faster depends on the caches. Beside a GPU they are warm and numpy takes some 20 us.
Where the processor computes the model itself, the weights push everything else out, each line of Python and each call
of numpy costs five to ten times as much, and a vocabulary of usual size is sooner copied.

On a GPU that sorts the best tokens out itself (`engine.worker.graph_top_k`) the chain is given just those.

With a grammar the chain chooses first. Only a token that the grammar refuses costs a look at the whole vocabulary.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from math import isfinite
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


SOON_COPIED = 100_000
"""Tokens of a vocabulary up to which cold caches favour the whole array."""


class Picker:
    """Picks the tokens of one answer.

    Args:
        n_vocab: Number of logits the model gives.
        biases: Token -> what is added to its logit; minus infinity forbids it.
        cold: The processor computes the model, so its caches are cold.
    """

    def __init__(
        self,
        llama: Llama,
        context: Pointer,
        sampler: Sampler,
        n_vocab: int,
        biases: Mapping[int, float] | None = None,
        *,
        cold: bool = False,
    ) -> None:
        api = llama.api
        self._context, self._chain, self._n_vocab = context, sampler.chain, n_vocab
        self._apply, self._sample = api.llama_sampler_apply, api.llama_sampler_sample
        self._accept = api.llama_sampler_accept
        self._logits_address = logits_address(api)
        self._best_logits = api.llama_get_sampled_logits_ith
        self._depth = FIRST_DEPTH
        self._address = 0
        self._logits: Logits = np.empty(0, np.float32)
        buffer = np.zeros(n_vocab, TOKEN_DATA)
        self._rows, self._row_ids, self._row_logits = buffer, buffer["id"], buffer["logit"]
        self._array: Any = api.llama_token_data_array()
        self._reference = ctypes.byref(self._array)
        self._data = ctypes.cast(buffer.ctypes.data, api.llama_token_data_p)
        need = sampler.needed_candidates
        self._need = need if need is not None and need <= min(LARGEST_NEED, n_vocab) else None
        self._greedy, self._remembers = sampler.is_plain_greedy, sampler.remembers
        self._native = self._need is None or (cold and n_vocab <= SOON_COPIED and not self._greedy)
        known = {token: bias for token, bias in (biases or {}).items() if 0 <= token < n_vocab}
        self._biased = np.array(list(known), np.intp) if known else None
        self._biases = np.array(list(known.values()), np.float32)
        self._checked = False
        """Whether the first logits are numbers: a model whose file is broken computes none from the start."""

        self.row = -1
        """Which logits of the last call decide; -1: its last ones."""

        self.constraint: Constraint | None = None
        """What the next tokens have to keep to; set and taken away between two calls of `pick`."""

    def pick(self) -> int:
        """The next token; the chain has accepted it.

        Raises:
            VrambleError: ``bad-logits``: the model computed no number; ``grammar-stuck``: no token fits the grammar.
        """
        if self._native and self._checked and self.constraint is None and self._biased is None:
            return int(self._sample(self._chain, self._context, self.row))
        address = self._logits_address(self._context, self.row)
        if address != self._address:
            self._address = address
            self._logits = np.ctypeslib.as_array(ctypes.cast(address, _FLOATS), (self._n_vocab,))
        logits = self._logits
        if self._biased is not None:
            logits[self._biased] += self._biases
        if self.constraint is not None:
            return self._pick_within(self.constraint, logits)
        if self._native:
            if not self._checked:
                self._checked = _check(float(logits.max()))
            return int(self._sample(self._chain, self._context, self.row))
        token = self._choose(logits)
        if self._remembers:
            self._accept(self._chain, token)
        return token

    def pick_of_candidates(self) -> int:
        """The next token, where `GraphTopK` gives the candidates for it; the chain has accepted it.

        Raises:
            VrambleError: ``bad-logits``.
        """
        if not self._checked:
            best = self._best_logits(self._context, self.row)
            self._checked = not best or _check(float(best[0]))
        return int(self._sample(self._chain, self._context, self.row))

    def _pick_within(self, constraint: Constraint, logits: Logits) -> int:
        constraint.hide(logits)
        token = self._choose(logits)
        if not constraint.allows(token):
            token = self._pick_allowed(constraint, logits)
        if token == NO_TOKEN:
            return token
        constraint.accept(token)
        self._accept(self._chain, token)
        return token

    def _choose(self, logits: Logits) -> int:
        if self._greedy:
            token = int(logits.argmax())
            _check(float(logits[token]))
            return token
        return self._choose_from(self._candidates(logits), logits)

    def _candidates(self, logits: Logits) -> Ids:
        """Ids of the tokens that decide: at least as many as the chain needs, the best ones among them."""
        best = float(logits.max())
        _check(best)
        need = self._need
        if need is None:
            return np.arange(self._n_vocab)
        while True:
            found = (logits >= best - self._depth).nonzero()[0]
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
        found = constraint.allowed(self._rows[: len(finite)], self._reference)
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
        array = self._array
        self._apply(self._chain, self._reference)
        return int(array.data[array.selected].id)  # XTC moves the beginning of the data

    def _fill(self, ids: Ids, logits: Logits) -> None:
        size = len(ids)
        self._row_ids[:size] = ids
        self._row_logits[:size] = logits[ids]
        array = self._array
        array.data, array.size, array.selected, array.sorted = self._data, size, -1, False


_FLOATS = ctypes.POINTER(ctypes.c_float)


def logits_address(api: Any) -> Callable[[Pointer, int], int]:
    """``llama_get_logits_ith`` that gives a number: the bindings' own makes a pointer object for each call."""
    bound = api.llama_get_logits_ith
    if hasattr(bound, "restype"):
        prototype = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)
        return prototype(ctypes.cast(bound, ctypes.c_void_p).value or 0)
    return lambda context, index: ctypes.cast(bound(context, index), ctypes.c_void_p).value or 0


def _check(best: float) -> bool:
    """True when the best logit is a number.

    Raises:
        VrambleError: ``bad-logits``.
    """
    if not isfinite(best):
        raise VrambleError(
            "bad-logits",
            "The model computed no valid numbers.",
            "Try another device or another model file.",
        )
    return True
