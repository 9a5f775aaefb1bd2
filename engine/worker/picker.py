"""The next token from the logits: the sampler chain in C, given only the tokens that can still win.

``llama_sampler_sample`` copies every token of the vocabulary into an array and then sorts out the best ones: 0.1 to
0.3 ms for 49,000 tokens, several times that for Gemma's 262,000. A chain that begins with top-k keeps no token
below the k-th best, so numpy picks the tokens near the maximum (some 20 us) and the chain sees just these. The result
is the same token; a test compares both ways.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import VrambleError
from engine.worker.native import Llama, Pointer
from engine.worker.sampler import Sampler

Logits = npt.NDArray[np.float32]

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
"""llama_token_data of llama.h."""

FIRST_DEPTH = 8.0
"""Distance below the best logit that is looked at first, in logits."""

PLENTY = 8
"""So many times the needed tokens found: look less deep the next time."""

LARGEST_NEED = 2000
"""Above this the whole array is no slower."""


class Picker:
    """Picks the tokens of one answer. ``n_vocab`` is the number of logits the model gives."""

    def __init__(self, llama: Llama, context: Pointer, sampler: Sampler, n_vocab: int) -> None:
        self._api = llama.api
        self._context, self._sampler, self._n_vocab = context, sampler, n_vocab
        self._depth = FIRST_DEPTH
        self._address = 0
        self._logits: Logits = np.empty(0, np.float32)
        self._buffer = np.zeros(n_vocab, TOKEN_DATA)
        self._array: Any = self._api.llama_token_data_array()
        self._reference = ctypes.byref(self._array)
        data = ctypes.cast(self._buffer.ctypes.data, self._api.llama_token_data_p)
        self._array.data = data
        need = sampler.needed_candidates
        self._need = need if need is not None and need <= min(LARGEST_NEED, n_vocab) else None

    def pick(self) -> int:
        """The next token; the chain has accepted it.

        Raises:
            VrambleError: ``bad-logits``: the model computed no number.
        """
        if self._need is None:
            return int(self._api.llama_sampler_sample(self._sampler.chain, self._context, -1))
        logits = self._view()
        best = logits.max()
        if not np.isfinite(best):
            raise VrambleError(
                "bad-logits",
                "The model computed no valid numbers.",
                "Try another device or another model file.",
            )
        if self._sampler.is_plain_greedy:
            return int(logits.argmax())
        return self._pick_from(self._candidates(logits, float(best), self._need), logits)

    def _view(self) -> Logits:
        pointer = self._api.llama_get_logits_ith(self._context, -1)
        address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
        if address != self._address:
            self._address = address
            self._logits = np.ctypeslib.as_array(pointer, (self._n_vocab,))
        return self._logits

    def _candidates(self, logits: Logits, best: float, need: int) -> npt.NDArray[np.intp]:
        """Ids of at least ``need`` tokens that hold all of the ``need`` best ones."""
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

    def _pick_from(self, ids: npt.NDArray[np.intp], logits: Logits) -> int:
        size = len(ids)
        rows = self._buffer[:size]
        rows["id"] = ids
        rows["logit"] = logits[ids]
        rows["p"] = 0.0
        array, chain = self._array, self._sampler.chain
        array.size, array.selected, array.sorted = size, -1, False
        self._api.llama_sampler_apply(chain, self._reference)
        token = int(self._buffer["id"][array.selected])
        self._api.llama_sampler_accept(chain, token)
        return token
