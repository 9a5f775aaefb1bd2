"""A grammar (GBNF) that the answer keeps to, run by llama.cpp."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

from engine.errors import VrambleError
from engine.worker.native import Llama, Pointer

ROOT = b"root"
MAX_DEPTH = 200
"""Brackets inside brackets; llama.cpp's parser calls itself for each."""

LONGEST_QUOTE = 60
FIX_GRAMMAR = "Correct the grammar."
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|#[^\n]*')
_PARSER_SAYS = re.compile(r"error parsing grammar: ([^\n]*)")
_LOG_SAYS = re.compile(r"(left recursion detected|does not contain a 'root' symbol)")
_IN_WORDS = {
    "left recursion detected": "a rule begins with itself",
    "does not contain a 'root' symbol": "it has no rule named root",
}

T = TypeVar("T")


class Grammar:
    """The state of one answer in its grammar. Close it.

    Raises:
        VrambleError: ``bad-grammar`` with what is wrong in it.
    """

    def __init__(self, llama: Llama, vocab: Pointer, text: str) -> None:
        self._api = llama.api
        if _depth(text) > MAX_DEPTH:
            raise bad_grammar(f"more than {MAX_DEPTH} brackets are open at once")
        raw = text.encode("utf-8", "replace").replace(b"\0", b" ")
        pointer, printed = with_stderr(lambda: self._api.llama_sampler_init_grammar(vocab, raw, ROOT))
        if not pointer:
            raise bad_grammar(_reason(printed))
        self._pointer: Pointer = pointer
        self._one: Any = (self._api.llama_token_data * 1)()
        self._array: Any = self._api.llama_token_data_array()
        self._array.data = ctypes.cast(self._one, self._api.llama_token_data_p)

    def allows(self, token: int) -> bool:
        """Whether ``token`` can come now; a token that ends the answer can when the grammar is complete."""
        self._one[0].id, self._one[0].logit = token, 1.0
        self._array.size, self._array.selected, self._array.sorted = 1, -1, False
        self._api.llama_sampler_apply(self._pointer, ctypes.byref(self._array))
        return bool(self._one[0].logit == 1.0)

    def narrow(self, array: Any) -> None:
        """Set the logits of all tokens in a ``llama_token_data_array`` that cannot come to minus infinity."""
        self._api.llama_sampler_apply(self._pointer, array)

    def accept(self, token: int) -> None:
        """Go on by a token that `allows` allowed; any other one would end the process."""
        self._api.llama_sampler_accept(self._pointer, token)

    def close(self) -> None:
        """Free it."""
        self._api.llama_sampler_free(self._pointer)


def bad_grammar(reason: str) -> VrambleError:
    """The error for a grammar that cannot be used."""
    return VrambleError("bad-grammar", f"The grammar is not valid: {reason}.", FIX_GRAMMAR)


def with_stderr(call: Callable[[], T]) -> tuple[T, str]:
    """The result of a native call and what it printed to standard error: the parser complains there."""
    kept, file = os.dup(2), os.memfd_create("grammar")
    try:
        os.dup2(file, 2)
        try:
            result = call()
        finally:
            os.dup2(kept, 2)
        os.lseek(file, 0, os.SEEK_SET)
        return result, os.read(file, 1 << 16).decode("utf-8", "replace")
    finally:
        os.close(file)
        os.close(kept)


def _reason(said: str) -> str:
    if match := _PARSER_SAYS.search(said):
        what, at, rest = match[1].strip().partition(" at ")
        quoted = rest.strip()[:LONGEST_QUOTE]
        return f"{what}{f' at {quoted!r}' if at and quoted else ' at its end' if at else ''}".rstrip(".").lower()
    if match := _LOG_SAYS.search(said):
        return _IN_WORDS[match[1]]
    return "the engine cannot read it"


def _depth(text: str) -> int:
    depth = deepest = 0
    for mark in _LITERAL.sub("", text):
        depth += (mark == "(") - (mark == ")")
        deepest = max(deepest, depth)
    return deepest
