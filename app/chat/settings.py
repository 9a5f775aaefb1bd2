"""Settings of the chat: what an answer is made with."""

from __future__ import annotations

from typing import Annotated

import msgspec

from engine.protocol.caching import Overflow
from engine.protocol.types import Sampling

Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling parameters as in `Sampling`, and what goes with every prompt.

    Attributes:
        seed: None takes a new one for each answer.
        max_tokens: Most tokens of an answer; None up to the end of the context.
        system_prompt: Stands before every conversation; empty for none.
        overflow: What happens when a conversation is longer than the context.
    """

    temperature: Annotated[float, msgspec.Meta(ge=0.0, le=5.0)] = Sampling().temperature
    top_k: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = Sampling().top_k
    top_p: Share = Sampling().top_p
    min_p: Share = Sampling().min_p
    repeat_penalty: Annotated[float, msgspec.Meta(gt=0.0, le=5.0)] = Sampling().repeat_penalty
    repeat_last_n: Annotated[int, msgspec.Meta(ge=-1, le=1_000_000)] = Sampling().repeat_last_n
    seed: Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)] | None = Sampling().seed
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    system_prompt: str = ""
    overflow: Overflow = Overflow.STOP

    def sampling(self) -> Sampling:
        """The parameters as the engine takes them."""
        return Sampling(
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
            min_p=self.min_p,
            repeat_penalty=self.repeat_penalty,
            repeat_last_n=self.repeat_last_n,
            seed=self.seed,
        )
