"""What the answers since a reset took together."""

from __future__ import annotations

import msgspec

from engine.protocol.types import GenerationStats


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over answers.

    Attributes:
        answers: How many.
        prompt_tokens: Prompt tokens that were computed; those found in the cache are not counted.
        prefill_s: Seconds that these took.
        decoded_tokens: Tokens after the first one of each answer.
        decode_s: Seconds that these took.
        drafted: Tokens that were guessed; ``accepted`` of them were right.
        last: Figures of the last answer.
    """

    answers: int = 0
    prompt_tokens: int = 0
    prefill_s: float = 0.0
    decoded_tokens: int = 0
    decode_s: float = 0.0
    drafted: int = 0
    accepted: int = 0
    last: GenerationStats = GenerationStats()

    @property
    def prefill_tps(self) -> float:
        """Prompt tokens a second; 0 when none were computed."""
        return self.prompt_tokens / self.prefill_s if self.prefill_s > 0 else 0.0

    @property
    def decode_tps(self) -> float:
        """Generated tokens a second; 0 when there were none."""
        return self.decoded_tokens / self.decode_s if self.decode_s > 0 else 0.0

    def __str__(self) -> str:
        """``prefill: 133.9 tok/s, decode: 55.8 tok/s``."""
        guessed = f", guesses accepted: {self.accepted / self.drafted:.0%}" if self.drafted else ""
        return f"prefill: {self.prefill_tps:.1f} tok/s, decode: {self.decode_tps:.1f} tok/s{guessed}"

    def plus(self, stats: GenerationStats) -> Figures:
        """With one answer more."""
        computed = stats.prompt_tokens - stats.cached_tokens
        decoded = max(stats.generated_tokens - 1, 0)
        reads, writes = stats.prefill_tps > 0, stats.decode_tps > 0
        return Figures(
            answers=self.answers + 1,
            prompt_tokens=self.prompt_tokens + (computed if reads else 0),
            prefill_s=self.prefill_s + (computed / stats.prefill_tps if reads else 0.0),
            decoded_tokens=self.decoded_tokens + (decoded if writes else 0),
            decode_s=self.decode_s + (decoded / stats.decode_tps if writes else 0.0),
            drafted=self.drafted + stats.drafted,
            accepted=self.accepted + stats.accepted,
            last=stats,
        )
