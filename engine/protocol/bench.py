"""What a benchmark asks of the worker, and what one run gave."""

from __future__ import annotations

import msgspec


class BenchTest(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is timed: reading a prompt, generating, or first one and then the other.

    Attributes:
        prompt: Tokens that are read; their time is `BenchSample.prompt_s`.
        generated: Tokens that are generated one by one; their time is `BenchSample.generated_s`.
        depth: Tokens that are in the context before; reading them is not timed.
        greedy: Each token is the likeliest one, as in an answer; else they are random, as in llama-bench.
        warm_up: Tokens that are generated before the clock starts.
    """

    prompt: int = 0
    generated: int = 0
    depth: int = 0
    greedy: bool = False
    warm_up: int = 1

    @property
    def context(self) -> int:
        """Tokens of context that it needs."""
        return self.depth + self.prompt + self.generated

    @property
    def name(self) -> str:
        """As llama-bench writes it: ``pp512``, ``tg128 @ d4096``; ``pp1+tg512`` where both are timed."""
        parts = [f"{word}{count}" for word, count in (("pp", self.prompt), ("tg", self.generated)) if count]
        return "+".join(parts) + (f" @ d{self.depth}" if self.depth else "")


class BenchSample(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a `BenchTest`. Times in seconds; None for what it does not time.

    Attributes:
        generated: Tokens that were generated in `generated_s` when the run was stopped before all were; else None.
        power_w: Mean power of the GPUs while tokens were generated, watts; None where no sensor tells.
        drafted: Guessed tokens, where the model was loaded with something that guesses; ``accepted`` were right.
    """

    prompt_s: float | None = None
    generated_s: float | None = None
    generated: int | None = None
    power_w: float | None = None
    drafted: int = 0
    accepted: int = 0
