"""What goes into an answer, and what is told of it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    """The model ended its turn, or a stop string was met."""
    LENGTH = "length"
    """``max_tokens`` were generated."""
    CONTEXT = "context"
    """The context is full."""
    CANCELLED = "cancelled"
    ERROR = "error"


class Thinking(msgspec.Struct, frozen=True, kw_only=True):
    """How much a model may think before it answers. Models that cannot think are not changed by it.

    Attributes:
        enabled: The template's ``enable_thinking``; None leaves it to the template. False also closes at once a thought
            that opens nevertheless.
        budget: Most tokens of a thought; then its end is written for the model. None for no limit.
    """

    enabled: bool | None = None
    budget: int | None = None


class ChatMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One turn as the chat template sees it. Roles: system, user, assistant.

    ``thinking``: what the model thought before this answer; only templates that ask for it put it into the prompt.
    """

    role: str
    content: str
    thinking: str = ""


class GenerationStats(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one answer.

    Attributes:
        prompt_tokens: Tokens of the whole prompt, cached ones included.
        cached_tokens: Of these, tokens whose KV cache was reused.
        generated_tokens: Tokens sampled, the end token not counted.
        thinking_tokens: Of these, tokens of the thought.
        ttft_ms: Request taken to first token sampled, milliseconds.
        prefill_tps: Prompt tokens computed per second (cached ones not counted); 0 when none.
        decode_tps: Tokens per second after the first one; 0 when fewer than two.
        drafted: Tokens guessed by draft model or n-gram lookup, and looked at.
        accepted: Of these, tokens that the model chose itself.
    """

    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    thinking_tokens: int = 0
    ttft_ms: float = 0.0
    prefill_tps: float = 0.0
    decode_tps: float = 0.0
    drafted: int = 0
    accepted: int = 0

    @property
    def accepted_rate(self) -> float | None:
        """Share of the guessed tokens that were right; None when none were guessed."""
        return self.accepted / self.drafted if self.drafted else None
