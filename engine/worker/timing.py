"""The moments of one answer, and its figures."""

from __future__ import annotations

from dataclasses import dataclass

from engine.protocol.types import GenerationStats


@dataclass
class Timing:
    """Moments of one answer, monotonic seconds; 0 when they did not come."""

    taken: float
    prompt_begin: float = 0.0
    prompt_end: float = 0.0
    first: float = 0.0
    last: float = 0.0


@dataclass
class Counts:
    """Tokens of one answer, counted as in `GenerationStats`."""

    prompt: int = 0
    reused: int = 0
    generated: int = 0
    thought: int = 0


def figures(timing: Timing, counts: Counts, drafted: int, accepted: int) -> GenerationStats:
    """What is told of an answer."""
    computed = counts.prompt - counts.reused if timing.prompt_end else 0
    return GenerationStats(
        prompt_tokens=counts.prompt,
        cached_tokens=counts.reused,
        generated_tokens=counts.generated,
        thinking_tokens=counts.thought,
        ttft_ms=(timing.first - timing.taken) * 1000 if timing.first else 0.0,
        prefill_tps=_rate(computed, timing.prompt_end - timing.prompt_begin),
        decode_tps=_rate(counts.generated - 1, timing.last - timing.first),
        drafted=drafted,
        accepted=accepted,
    )


def _rate(count: int, seconds: float) -> float:
    return count / seconds if count > 0 and seconds > 0 else 0.0
