"""One answer that is written by looking at guesses."""

from __future__ import annotations

from collections.abc import Callable

from engine.worker.cancel import Stop
from engine.worker.native import Llama, Pointer
from engine.worker.prompt_cache import PromptCache
from engine.worker.sequence_batch import RowsBatch
from engine.worker.speculation.drafter import Drafter
from engine.worker.speculation.length import GuessLength
from engine.worker.speculation.worth import Worth

DECODED, NO_SLOT = 0, 1
"""What ``llama_decode`` gives when all went well, and when the memory has no room: then nothing has changed."""


class LookAhead:
    """Computes chosen tokens, each with a guess behind it.

    Args:
        cache: The sequence; its ``tokens`` hold chosen tokens only, native memory also those that are guessed.
        drafter: Guesses.
        length: How far, at most ``most`` tokens.
        show_row: Told in which row of the last call the logits for the next token are.
        worth: Told of each call.
    """

    def __init__(
        self,
        llama: Llama,
        context: Pointer,
        cache: PromptCache,
        drafter: Drafter,
        length: GuessLength,
        show_row: Callable[[int], None],
        most: int,
        worth: Worth | None = None,
    ) -> None:
        self._decode, self._context = llama.api.llama_decode, context
        self._cache, self._cached = cache, cache.tokens
        self._drafter, self._length, self._show_row = drafter, length, show_row
        self._batch = RowsBatch(llama.api, most + 1, cache.sequence)
        self._most, self._worth = most, worth or Worth()
        self._guess: list[int] = []
        self._right = 0
        self.drafted = self.accepted = 0
        self.stop = Stop()
        """Set when guessing has to give way."""

        drafter.forget()

    def compute(self, token: int, room: int) -> int:
        """Let the logits behind ``token`` be there; llama.cpp's result.

        Args:
            room: Tokens that may come behind it.
        """
        right = self._right
        if right < len(self._guess) and self._guess[right] == token:
            self._right += 1
            self.accepted += 1
            self._cached.append(token)
            self._show_row(right + 1)
            return DECODED
        self._settle()
        return self._look_at(token, room)

    def _look_at(self, token: int, room: int) -> int:
        self._worth.begin(len(self._cached))
        most = self._length.next(min(room, self._most))
        guess = self._drafter.draft(self._cached, token, most, self.stop) if most else []
        self._worth.computes(guessed=bool(guess))
        result = int(self._decode(self._context, self._batch.of(token, guess)))
        if result == NO_SLOT and guess:
            guess = []
            result = int(self._decode(self._context, self._batch.of(token, guess)))
        if result == DECODED:
            self._cached.append(token)
            self._guess, self._right = guess, 0
            self.drafted += len(guess)
            self._show_row(0)
        return result

    def settle(self) -> None:
        """Take what is guessed and not chosen out of the memory: something else is computed next. Logits stay."""
        self._worth.interrupted()
        self._settle()

    def _settle(self) -> None:
        guessed, right = len(self._guess), self._right
        if guessed:
            self._length.judged(guessed, right)
            self._guess, self._right = [], 0
        if right < guessed:
            self._cache.truncate(len(self._cached))

    def moved(self) -> None:
        """Tokens were taken out of the middle of the sequence."""
        self._drafter.forget()
