"""A short look at what a loaded model computes, before anybody trusts its answers.

The model reads a fixed text in one batch, then token by token, then goes on by itself: so both kinds of matrix
kernels, for many tokens and for one, have to be right. What it expects at the places after the batch is handed out;
`engine.client.agreement` judges it. The context is empty before and after.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from engine.errors import VrambleError
from engine.protocol.probe import Position, Probe
from engine.protocol.types import DeviceKind
from engine.worker.cancel import CancelFlag
from engine.worker.logits import position
from engine.worker.model import LoadedModel
from engine.worker.prompt import PromptCancelled, decode

TEXT: Final = (
    "The lighthouse keeper counted seven ships before breakfast. Three of them carried timber, two carried salt, and"
    " the last pair belonged to a merchant from Lisbon who sold clocks, maps and musical boxes. Each evening she wrote"
    " their names in a green notebook, together with the direction of the wind: north, south, east or west. When winter"
    " came, the harbour froze and nobody sailed, so she repaired the lamp, read old letters, taught her nephew"
    " arithmetic and asked him: what is twelve plus thirty, and what is half of that?"
)
"""Varied enough that no model which reads it expects the same token everywhere."""

FIRST_SLICE: Final = 24
"""Tokens whose time says how many more are read in one batch."""

ON_CPU: Final = 4
"""Tokens that are read in one batch on the CPU, and places that are looked at: its kernels are what others are compared
with, so only numbers and their variety are asked for."""

PROMPT_TOKENS: Final = 96
"""After the first slice more than 64: from there on the Vulkan backend takes its largest matrix tiles."""

FOLLOWED: Final = 4
"""Places at which the text goes on."""

CHOSEN: Final = 4
"""Tokens that the model chooses itself."""

BUDGET_SECONDS: Final = 1.5
"""The batch is made smaller, and places are left out, where a slow device would need longer."""

FEWEST: Final = 2
"""Places of each kind that are looked at however slow the device is."""

NO_VOCABULARY: Final = "The model has no vocabulary."
SHORT_CONTEXT: Final = "The context is too short."


class SelfTester:
    """One self-test of a loaded model."""

    def __init__(self, loaded: LoadedModel, cancel: CancelFlag, clock: Callable[[], float] = time.monotonic) -> None:
        self._loaded, self._cancel, self._clock = loaded, cancel, clock
        self._tokens: list[int] = []
        self._positions: list[Position] = []
        self._deadline = math.inf

    def run(self) -> Probe:
        """Read the text and give what the model expects.

        Raises:
            VrambleError: ``cancelled``, and what a decode call can end in: ``out-of-memory``, ``decode-failed``.
        """
        loaded, api = self._loaded, self._loaded.llama.api
        if api.llama_vocab_type(api.llama_model_get_vocab(loaded.model)) == api.LLAMA_VOCAB_TYPE_NONE:
            return Probe(skipped=NO_VOCABULARY)
        text = self._text()
        if len(text) <= FOLLOWED:
            return Probe(skipped=SHORT_CONTEXT)
        loaded.cache.clear()
        try:
            chosen = self._read(text)
        except PromptCancelled:
            raise VrambleError("cancelled", "The self-test was cancelled.") from None
        finally:
            loaded.cache.clear()
        return Probe(tokens=tuple(self._tokens), chosen=chosen, positions=tuple(self._positions))

    def _text(self) -> list[int]:
        vocabulary = self._loaded.vocabulary
        tokens = [vocabulary.bos] if vocabulary.adds_bos and vocabulary.bos >= 0 else []
        tokens += vocabulary.tokenize(TEXT, special=False)
        return tokens[: min(PROMPT_TOKENS + FOLLOWED, self._loaded.info.n_ctx - CHOSEN)]

    def _read(self, text: list[int]) -> int:
        """Batch, places in the text, places of its own. Gives the number of own tokens."""
        if self._loaded.info.device.kind is DeviceKind.CPU:
            self._feed(text[:ON_CPU])
            self._look()
            self._follow(text[ON_CPU : ON_CPU + ON_CPU - 1])
            return 0
        batch, followed = text[:-FOLLOWED], text[-FOLLOWED:]
        self._batch(batch)
        self._look()
        self._follow(followed)
        return self._go_on()

    def _batch(self, tokens: list[int]) -> None:
        start = self._clock()
        self._feed(tokens[:FIRST_SLICE])
        seconds = self._clock() - start
        self._deadline = self._clock() + BUDGET_SECONDS
        affordable = int(FIRST_SLICE * BUDGET_SECONDS / seconds) if seconds > 0 else PROMPT_TOKENS
        self._feed(tokens[FIRST_SLICE : FIRST_SLICE + affordable])

    def _follow(self, tokens: list[int]) -> None:
        for number, token in enumerate(tokens):
            if number >= FEWEST and self._late():
                break
            self._feed([token])
            self._look()

    def _go_on(self) -> int:
        """Let the model choose tokens. The last choice is not read back: nothing more is asked."""
        chosen = 0
        while chosen < CHOSEN - 1 and self._positions[-1].finite and not (chosen >= FEWEST and self._late()):
            self._feed([self._positions[-1].best[0].token])
            self._look()
            chosen += 1
        return chosen

    def _late(self) -> bool:
        return self._clock() > self._deadline

    def _feed(self, tokens: list[int]) -> None:
        size = max(1, self._loaded.n_batch)
        for start in range(0, len(tokens), size):
            if self._cancel.is_set:
                raise PromptCancelled
            part = tokens[start : start + size]
            decode(self._loaded, (ctypes.c_int32 * len(part))(*part), len(part))
            self._tokens += part

    def _look(self) -> None:
        loaded = self._loaded
        pointer = loaded.llama.api.llama_get_logits_ith(loaded.context, -1)
        self._positions.append(position(np.ctypeslib.as_array(pointer, (loaded.vocabulary.size,)), len(self._tokens)))
