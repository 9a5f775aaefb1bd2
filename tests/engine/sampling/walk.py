"""Texts drawn at random from a grammar by llama.cpp's own sampler, over a vocabulary of single bytes."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from engine.protocol.types import Sampling
from engine.worker.constraint import Constraint
from engine.worker.grammar import Grammar
from engine.worker.native import import_bindings
from engine.worker.picker import Picker
from engine.worker.sampler import Sampler

LONGEST = 2000
FAVOURED = 4.0
"""Added to the logits of what closes things, so that texts end."""


class Bytes:
    """The vocabulary of the tiny model: token 2 ends, token 3 + n is byte n."""

    END = 2

    def __init__(self, file: Path) -> None:
        self._real = import_bindings()
        params = self._real.llama_model_default_params()
        params.vocab_only = True
        self._model = self._real.llama_model_load_from_file(str(file).encode(), params)
        assert self._model
        self.vocab = self._real.llama_model_get_vocab(self._model)
        self.size: int = self._real.llama_vocab_n_tokens(self.vocab)
        self.logits = np.zeros(self.size, np.float32)
        self.llama: Any = SimpleNamespace(api=self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def llama_get_logits_ith(self, _context: object, _index: int) -> Any:
        return self.logits.ctypes.data_as(ctypes.POINTER(ctypes.c_float))

    def close(self) -> None:
        self._real.llama_model_free(self._model)

    def grammar(self, text: str) -> Grammar:
        return Grammar(self.llama, self.vocab, text)

    def accepts(self, grammar: str, text: str) -> bool:
        """Whether the whole text is one of the grammar."""
        state = self.grammar(grammar)
        try:
            for byte in text.encode():
                if not state.allows(3 + byte):
                    return False
                state.accept(3 + byte)
            return state.allows(self.END)
        finally:
            state.close()

    def piece(self, token: int) -> bytes:
        return bytes([token - 3]) if 3 <= token < 259 else b""

    def draw(self, grammar: str, seed: int) -> str | None:
        """A random text; None when it does not end in time."""
        random = np.random.default_rng(seed)
        sampler = Sampler(self.llama, Sampling(seed=seed, temperature=1, top_k=0), n_vocab=self.size, n_ctx=512)
        silent = [0, 1, *range(self.size - 2, self.size)]
        constraint = Constraint(self.grammar(grammar), ends=(), end=self.END, silent=silent, piece=self.piece)
        picker = Picker(self.llama, None, sampler, self.size)
        picker.constraint = constraint
        favoured = [self.END, *(3 + byte for byte in b'"}]')]
        written = bytearray()
        try:
            for _ in range(LONGEST):
                self.logits[:] = random.normal(0, 2, self.size)
                self.logits[favoured] += FAVOURED
                self.logits[259:] = -50
                token = picker.pick()
                if token == self.END:
                    return written.decode()
                written.append(token - 3)
            return None
        finally:
            constraint.close()
            sampler.close()
