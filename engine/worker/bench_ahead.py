"""Generation of a benchmark where something guesses for the model: the likeliest tokens, as in an answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.worker.cancel import Stop
from engine.worker.model import LoadedModel
from engine.worker.prompt import DECODE_OK, PromptCancelled, decode_problem
from engine.worker.speculation.look_ahead import LookAhead


class GuessedGeneration:
    """Generates in the first sequence of a model, whose cache then holds what was generated.

    Attributes:
        drafted: Guessed tokens.
        accepted: Of these, the likeliest ones.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded, self._row = loaded, -1
        self._ahead: LookAhead | None = None
        speculation = loaded.speculation
        if speculation is not None:
            self._ahead = speculation.begin(loaded.llama, loaded.context, loaded.cache, self._look_in, anew=True)

    @property
    def on(self) -> bool:
        """Whether anything is guessed."""
        return self._ahead is not None

    @property
    def drafted(self) -> int:
        """Guessed tokens."""
        return self._ahead.drafted if self._ahead is not None else 0

    @property
    def accepted(self) -> int:
        """Of these, the likeliest ones."""
        return self._ahead.accepted if self._ahead is not None else 0

    def run(self, first: int, count: int, cancel: Stop, done: Callable[[int], None]) -> None:
        """Compute ``count`` tokens, beginning with ``first``.

        Args:
            done: Called after each, with how many there are.

        Raises:
            PromptCancelled, VrambleError: As `engine.worker.prompt.decode`.
        """
        loaded, ahead, token = self._loaded, self._ahead, first
        assert ahead is not None
        ahead.stop = cancel
        try:
            for index in range(count):
                result = ahead.compute(token, count - index - 1)
                loaded.llama.api.llama_synchronize(loaded.context)
                if result != DECODE_OK:
                    raise decode_problem(loaded, result)
                token = self._likeliest()
                done(index + 1)
                if cancel.is_set:
                    raise PromptCancelled
        finally:
            ahead.settle()

    def _look_in(self, row: int) -> None:
        self._row = row

    def _likeliest(self) -> int:
        loaded = self._loaded
        logits = loaded.llama.api.llama_get_logits_ith(loaded.context, self._row)
        return int(np.ctypeslib.as_array(logits, (loaded.vocabulary.size,)).argmax())
