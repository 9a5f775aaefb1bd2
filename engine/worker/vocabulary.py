"""Text to tokens and back."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable

from engine.worker.native import Llama, Pointer

_PIECE_BYTES = 256
NO_TOKEN = -1
_NEVER_SHOWN = 1 | 2 | 8
"""Unknown, unused and control tokens in ``llama_token_attr``."""


class Vocabulary:
    """The loaded model's vocabulary. Pieces are cached: a token costs one look-up when it comes again."""

    def __init__(self, llama: Llama, model: Pointer) -> None:
        self._api = llama.api
        self._vocab: Pointer = self._api.llama_model_get_vocab(model)
        self.pointer = self._vocab
        """The vocabulary for native code."""

        self.size: int = self._api.llama_vocab_n_tokens(self._vocab)
        self.bos: int = self._api.llama_vocab_bos(self._vocab)
        self.eos: int = self._api.llama_vocab_eos(self._vocab)
        self.adds_bos: bool = self._api.llama_vocab_get_add_bos(self._vocab)
        self.pieces: dict[int, bytes | None] = {NO_TOKEN: None}
        """Bytes of tokens seen so far; None for tokens that end the turn, and for `NO_TOKEN`."""

        self.texts: dict[int, str] = {}
        """Texts of those among them that are plain ASCII: no character is cut in them."""

        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        self.silent = self._silent()
        """Tokens that are never shown: control tokens, and those that stand for no text."""

        self.control_texts = frozenset(self.text(token) for token in self.silent if self.is_control(token)) - {""}
        self.ends: tuple[int, ...] = ()
        """Tokens that end the turn here though llama.cpp does not know it."""

    def _silent(self) -> tuple[int, ...]:
        attributes, vocab = self._api.llama_vocab_get_attr, self._vocab
        return tuple(token for token in range(self.size) if attributes(vocab, token) & _NEVER_SHOWN)

    @property
    def end_of_text(self) -> int:
        """A token that llama.cpp knows to end the text; `NO_TOKEN` when there is none."""
        known = (self.eos, self._api.llama_vocab_eot(self._vocab), *self.silent)
        return next(
            (token for token in known if token >= 0 and self._api.llama_vocab_is_eog(self._vocab, token)), NO_TOKEN
        )

    @property
    def endings(self) -> tuple[int, ...]:
        """Tokens that end the turn."""
        known = dict.fromkeys((self.eos, self._api.llama_vocab_eot(self._vocab), *self.silent, *self.ends))
        return tuple(token for token in known if token >= 0 and self.piece(token) is None)

    @property
    def suppressed(self) -> tuple[int, ...]:
        """Tokens that the file says must never be sampled."""
        count = ctypes.c_int32(0)
        tokens = self._api.llama_vocab_get_suppress_tokens(self._vocab, ctypes.byref(count))
        return tuple(tokens[: count.value]) if tokens and count.value > 0 else ()

    def text(self, token: int) -> str:
        """The text of a token as the file has it; "" for no token."""
        if token == NO_TOKEN or not 0 <= token < self.size:
            return ""
        raw: bytes = self._api.llama_vocab_get_text(self._vocab, token) or b""
        return raw.decode("utf-8", "replace")

    def is_control(self, token: int) -> bool:
        """Whether ``token`` is a control token: never shown, never made from plain text."""
        return bool(self._api.llama_vocab_is_control(self._vocab, token))

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Tokens of ``text``. ``special``: texts of control tokens become these tokens. No BOS or EOS is added."""
        raw = text.encode("utf-8", "replace")
        room = len(raw) + 16
        tokens = (ctypes.c_int32 * room)()
        count = self._api.llama_tokenize(self._vocab, raw, len(raw), tokens, room, False, special)
        if count < 0:
            tokens = (ctypes.c_int32 * -count)()
            count = self._api.llama_tokenize(self._vocab, raw, len(raw), tokens, -count, False, special)
        return tokens[:count]

    def tokenize_on(self, text: str, *, special: bool) -> list[int]:
        """As `tokenize`, for text that goes on with other text: no space is put before it.

        Vocabularies of the SentencePiece kind put one before each text. They never join a line end with what follows,
        so one is written before ``text`` and taken away again.
        """
        lead = self.tokenize("\n", special=False)
        if len(lead) < 2 or self.piece(lead[0]) != b" ":
            return self.tokenize(text, special=special)
        tokens = self.tokenize("\n" + text, special=special)
        return tokens[len(lead) :] if tokens[: len(lead)] == lead else self.tokenize(text, special=special)

    def look_up(self, token: int) -> bytes | None:
        """The bytes of a token that is not in `pieces` yet; puts it there. None: it ends the turn."""
        piece = None if self._api.llama_vocab_is_eog(self._vocab, token) else self._piece(token)
        self.pieces[token] = piece
        if piece and piece.isascii():
            self.texts[token] = piece.decode("ascii")
        return piece

    def end_turn_at(self, tokens: Iterable[int]) -> None:
        """Let these tokens end the turn, too."""
        added = [token for token in tokens if not self._api.llama_vocab_is_eog(self._vocab, token)]
        self.ends = tuple(dict.fromkeys([*self.ends, *added]))
        self._set_pieces(added, None)

    def go_on_at(self, tokens: Iterable[int]) -> None:
        """Let these tokens, which are never shown, not end the turn: they only mark its parts."""
        gone = frozenset(tokens)
        self.ends = tuple(token for token in self.ends if token not in gone)
        self._set_pieces(gone, b"")

    def _set_pieces(self, tokens: Iterable[int], piece: bytes | None) -> None:
        for token in tokens:
            self.pieces[token] = piece
            self.texts.pop(token, None)

    def piece(self, token: int) -> bytes | None:
        """The bytes of a token; None when it ends the turn."""
        return self.pieces[token] if token in self.pieces else self.look_up(token)

    def _piece(self, token: int) -> bytes:
        length = self._api.llama_token_to_piece(self._vocab, token, self._buffer, len(self._buffer), 0, False)
        if length < 0:
            self._buffer = ctypes.create_string_buffer(-length)
            length = self._api.llama_token_to_piece(self._vocab, token, self._buffer, -length, 0, False)
        return self._buffer.raw[:length]


class SpecialTextGuard:
    """Keeps the texts of control tokens in a conversation from becoming these tokens.

    Before the template runs, a mark is put into each such text after its first character. After it, the prompt is cut
    at the marks and the parts are turned into tokens one by one: no part holds a whole control text, so the model reads
    the characters that were written and nothing else. Texts without control tokens, which is nearly all, pass through
    untouched; so templates may trim, split and compare them.
    """

    def __init__(self, control_texts: Iterable[str]) -> None:
        self._texts = frozenset(text for text in control_texts if len(text) > 1)
        self._lengths = sorted({len(text) for text in self._texts})
        firsts = "".join(re.escape(first) for first in {text[0] for text in self._texts})
        self._first = re.compile(f"[{firsts}]") if firsts else None

    def mark_for(self, texts: Iterable[str]) -> str:
        """A private-use character that none of ``texts`` holds."""
        used = set("".join(texts))
        return next(chr(code) for code in range(0x10F000, 0x10FFFE) if chr(code) not in used)

    def guard(self, text: str, mark: str) -> str:
        """``text`` with marks inside every control text."""
        if self._first is None:
            return text

        def marked(match: re.Match[str]) -> str:
            at = match.start()
            found = any(text[at : at + length] in self._texts for length in self._lengths)
            return match[0] + mark if found else match[0]

        return self._first.sub(marked, text)
