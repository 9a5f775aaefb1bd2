"""What a grammar allows, in terms of the vocabulary of the loaded model."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.worker.grammar import Grammar
from engine.worker.vocabulary import NO_TOKEN

Logits = npt.NDArray[np.float32]
Ids = npt.NDArray[np.intp]
Rows = npt.NDArray[Any]
"""Rows of ``llama_token_data``: id, logit, p."""


class Constraint:
    """A grammar with what this vocabulary needs beside it.

    Args:
        ends: Tokens that end the turn here though llama.cpp does not know it.
        end: A token that llama.cpp knows to end the text; `NO_TOKEN` when the model has none.
        silent: Control tokens: the grammar would take them for their texts, which are never shown.
        piece: The bytes of a token. llama.cpp's grammars take a quote for the rest of a character that was cut, so
            broken UTF-8 is refused here.
    """

    def __init__(
        self,
        grammar: Grammar,
        *,
        ends: Iterable[int],
        end: int,
        silent: Iterable[int],
        piece: Callable[[int], bytes | None],
    ) -> None:
        self._grammar, self._piece = grammar, piece
        self._cut = b""
        self.openers: frozenset[int] = frozenset()
        """Tokens that may come before the grammar begins: they open a thought."""

        self._ends, self._end = frozenset(ends), end
        self.ends_by_itself = end == NO_TOKEN
        self._end_ids = np.array(sorted(self._ends), np.intp)
        self._silent = np.array(sorted(set(silent) - self._ends), np.intp)

    @property
    def can_end(self) -> bool:
        """Whether the text is complete as it is."""
        return self._end != NO_TOKEN and self._grammar.allows(self._end)

    def allows(self, token: int) -> bool:
        """Whether the token can come now."""
        if token in self.openers:
            return True
        return self.can_end if token in self._ends else self._grammar.allows(token) and self.is_text(token)

    def is_text(self, token: int) -> bool:
        """Whether UTF-8 goes on with this token."""
        return token in self.openers or _rest(self._cut + (self._piece(token) or b"")) is not None

    def accept(self, token: int) -> None:
        """Go on by an allowed token."""
        if token not in self._ends and token not in self.openers:
            self._cut = _rest(self._cut + (self._piece(token) or b"")) or b""
            self._grammar.accept(token)

    def hide(self, logits: Logits) -> None:
        """Take the control tokens out of the choice."""
        kept = {token: logits[token] for token in self.openers}
        logits[self._silent] = -np.inf
        for token, logit in kept.items():
            logits[token] = logit
        if len(self._end_ids) and not self.can_end:
            logits[self._end_ids] = -np.inf

    def allowed(self, rows: Rows, array: Any) -> Ids:
        """Ids out of ``rows``, the memory of ``array``, that can come now. Logits of the others become -inf."""
        free = np.array([*self._ends, *self.openers], np.intp)
        ends = free[np.isin(free, rows["id"])]
        self._grammar.narrow(array)
        found = rows["id"][rows["logit"] > -np.inf].astype(np.intp)
        return np.union1d(found[~np.isin(found, self._end_ids)], ends)

    def close(self) -> None:
        """Free the grammar."""
        self._grammar.close()


def _rest(data: bytes) -> bytes | None:
    """The beginning of a character at the end of UTF-8; None for what is no UTF-8."""
    if data.isascii():
        return b""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(data)
    except UnicodeDecodeError:
        return None
    cut = decoder.getstate()[0]
    return None if cut[:1] == b"\xed" and cut[1:2] >= b"\xa0" else cut  # surrogates, which the decoder sees late
