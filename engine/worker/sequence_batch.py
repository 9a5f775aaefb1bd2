"""Tokens of sequences in the shape that ``llama_decode`` takes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

_IDS = ctypes.POINTER(ctypes.c_int32)


def sequence_batch(api: Any, tokens: ctypes.Array[ctypes.c_int32], count: int, sequence: int) -> Any:
    """``count`` tokens that follow a sequence; logits of the last one. ``tokens`` is read when the batch is decoded."""
    batch = api.llama_batch_get_one(tokens, count)
    if sequence:
        batch.n_seq_id = (ctypes.c_int32 * count)(*[1] * count)
        batch.seq_id = (_IDS * count)(*[ctypes.pointer(ctypes.c_int32(sequence))] * count)
    return batch


class JointBatch:
    """Tokens of several sequences for one call, room for ``size`` of them."""

    def __init__(self, api: Any, size: int) -> None:
        self._api, self._size = api, size
        self._batch = api.llama_batch_init(size, 0, 1)

    def clear(self) -> None:
        """Begin anew."""
        self._batch.n_tokens = 0

    @property
    def room(self) -> int:
        """Tokens that still fit."""
        return self._size - int(self._batch.n_tokens)

    def add(self, tokens: Sequence[int], position: int, sequence: int, *, logits: bool) -> int:
        """Put tokens in that begin at ``position``; the row of the last one, which has logits if wanted."""
        batch = self._batch
        for offset, token in enumerate(tokens):
            row = batch.n_tokens
            batch.token[row] = token
            batch.pos[row] = position + offset
            batch.n_seq_id[row] = 1
            batch.seq_id[row][0] = sequence
            batch.logits[row] = False
            batch.n_tokens = row + 1
        batch.logits[batch.n_tokens - 1] = logits
        return int(batch.n_tokens) - 1

    def decode(self, context: Any) -> int:
        """Compute and wait; llama.cpp's result."""
        result = self._api.llama_decode(context, self._batch)
        self._api.llama_synchronize(context)
        return int(result)

    def close(self) -> None:
        """Free the memory."""
        self._api.llama_batch_free(self._batch)


class RowsBatch:
    """One chosen token and guesses behind it, which follow a sequence; each has logits. Room for ``size`` tokens."""

    def __init__(self, api: Any, size: int, sequence: int) -> None:
        self._tokens = (ctypes.c_int32 * size)()
        self._logits = (ctypes.c_int8 * size)(*[1] * size)
        self._batch = sequence_batch(api, self._tokens, size, sequence)
        self._batch.logits = self._logits

    def of(self, token: int, guess: Sequence[int]) -> Any:
        """The batch for ``token`` and ``guess``, to be decoded before this is called again."""
        tokens = self._tokens
        tokens[0] = token
        for place, guessed in enumerate(guess, 1):
            tokens[place] = guessed
        self._batch.n_tokens = len(guess) + 1
        return self._batch
