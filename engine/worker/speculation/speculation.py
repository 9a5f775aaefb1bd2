"""Guessing ahead for one loaded model."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from engine.protocol.types import MemoryUse
from engine.worker.native import Llama, Pointer
from engine.worker.prompt_cache import PromptCache
from engine.worker.speculation.draft_model import DraftModel
from engine.worker.speculation.drafter import Drafter, FirstWithAnIdea
from engine.worker.speculation.length import GuessLength
from engine.worker.speculation.look_ahead import LookAhead
from engine.worker.speculation.lookup import Lookup
from engine.worker.speculation.worth import Patience, Weighed, Worth


class Speculation:
    """Who guesses, and how far. Close it.

    Args:
        draft: The draft model, if there is one.
        ngram: Look in the conversation first.
        least: A guess has so many tokens or is not made.
        most: Tokens of a guess at most.
        weighs: Do not ask the draft model where that makes an answer slower.

    Attributes:
        memory: What the draft model holds on each device; only ``draft`` is filled.
        warnings: Why less is guessed than was asked for.
    """

    def __init__(
        self,
        draft: DraftModel | None,
        memory: tuple[MemoryUse, ...],
        *,
        ngram: bool,
        least: int,
        most: int,
        weighs: bool = True,
        warnings: tuple[str, ...] = (),
    ) -> None:
        self._draft, self._ngram, self._least, self._most = draft, ngram, least, most
        self._weighs, self._patience = weighs, Patience()
        self.memory, self.warnings = memory, warnings

    def begin(
        self, llama: Llama, context: Pointer, cache: PromptCache, show_row: Callable[[int], None], *, anew: bool = False
    ) -> LookAhead | None:
        """For one answer in ``cache``, a sequence of ``context``; None where nobody guesses.

        Args:
            show_row: As in `LookAhead`.
            anew: Ask the draft model though earlier answers gave it up.
        """
        drafters: list[Drafter] = [Lookup()] if self._ngram else []
        worth = Worth() if anew or not self._weighs else self._patience.worth()
        if self._draft is not None and worth is not None:
            drafters.append(Weighed(self._draft, worth) if self._weighs else self._draft)
        if not drafters:
            return None
        length = GuessLength(self._least, self._most)
        return LookAhead(llama, context, cache, FirstWithAnIdea(drafters), length, show_row, self._most, worth)

    def close(self) -> None:
        """Free the draft model."""
        if self._draft is not None:
            self._draft.close()


def with_draft(memory: tuple[MemoryUse, ...], draft: tuple[MemoryUse, ...]) -> tuple[MemoryUse, ...]:
    """Both, by device."""
    own = {use.device: use.draft for use in draft}
    told = [msgspec.structs.replace(use, draft=own.pop(use.device, 0)) for use in memory]
    return (*told, *(MemoryUse(device=device, draft=size) for device, size in own.items()))
