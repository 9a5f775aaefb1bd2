"""Settings of the chat: what an answer is made with."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from engine.chat.records import RunSettings
from engine.protocol.caching import Overflow
from engine.protocol.types import LogitBias, Sampling, Thinking


class ContextPolicy(StrEnum):
    """What happens when a conversation is longer than the context."""

    STOP = "stop"
    """The answer ends with a sentence; a prompt that is too long is refused."""
    SHIFT = "shift"
    """The oldest turns are left out."""
    SUMMARISE = "summarise"
    """The model makes a summary of the oldest turns, which then stands for them."""

    @property
    def of_engine(self) -> Overflow:
        """What the engine is told: it knows nothing of summaries."""
        return Overflow.SHIFT if self is ContextPolicy.SHIFT else Overflow.STOP


Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]
Penalty = Annotated[float, msgspec.Meta(ge=-2.0, le=2.0)]
Window = Annotated[int, msgspec.Meta(ge=-1, le=1_000_000)]
_PLAIN = Sampling()


class ChatSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling parameters as in `Sampling`, and what goes with every prompt.

    Attributes:
        seed: None takes a new one for each answer.
        max_tokens: Most tokens of an answer; None up to the end of the context.
        system_prompt: Stands before every conversation; empty for none.
        think: Whether a model may think first; None leaves it to the model.
        think_tokens: Most tokens of a thought; None for no limit.
        prefill: The beginning of each answer, written for the model.
        overflow: What happens when a conversation is longer than the context.
    """

    temperature: Annotated[float, msgspec.Meta(ge=0.0, le=5.0)] = _PLAIN.temperature
    top_k: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = _PLAIN.top_k
    top_p: Share = _PLAIN.top_p
    min_p: Share = _PLAIN.min_p
    repeat_penalty: Annotated[float, msgspec.Meta(gt=0.0, le=5.0)] = _PLAIN.repeat_penalty
    repeat_last_n: Window = _PLAIN.repeat_last_n
    seed: Annotated[int, msgspec.Meta(ge=0, le=0xFFFFFFFF)] | None = _PLAIN.seed
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    system_prompt: str = ""
    frequency_penalty: Penalty = _PLAIN.frequency_penalty
    presence_penalty: Penalty = _PLAIN.presence_penalty
    typical_p: Share = _PLAIN.typical_p
    top_n_sigma: Annotated[float, msgspec.Meta(ge=-1.0, le=20.0)] = _PLAIN.top_n_sigma
    xtc_probability: Share = _PLAIN.xtc_probability
    xtc_threshold: Share = _PLAIN.xtc_threshold
    dynatemp_range: Annotated[float, msgspec.Meta(ge=0.0, le=5.0)] = _PLAIN.dynatemp_range
    dynatemp_exponent: Annotated[float, msgspec.Meta(gt=0.0, le=10.0)] = _PLAIN.dynatemp_exponent
    dry_multiplier: Annotated[float, msgspec.Meta(ge=0.0, le=10.0)] = _PLAIN.dry_multiplier
    dry_base: Annotated[float, msgspec.Meta(ge=1.0, le=10.0)] = _PLAIN.dry_base
    dry_allowed_length: Annotated[int, msgspec.Meta(ge=1, le=1000)] = _PLAIN.dry_allowed_length
    dry_penalty_last_n: Window = _PLAIN.dry_penalty_last_n
    mirostat: Annotated[int, msgspec.Meta(ge=0, le=2)] = _PLAIN.mirostat
    mirostat_tau: Annotated[float, msgspec.Meta(gt=0.0, le=20.0)] = _PLAIN.mirostat_tau
    mirostat_eta: Annotated[float, msgspec.Meta(gt=0.0, le=1.0)] = _PLAIN.mirostat_eta
    grammar: str = ""
    json_schema: str = ""
    logit_bias: tuple[LogitBias, ...] = ()
    think: bool | None = None
    think_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    prefill: str = ""
    overflow: ContextPolicy = ContextPolicy.STOP

    def sampling(self) -> Sampling:
        """The parameters as the engine takes them."""
        names = set(Sampling.__struct_fields__)
        return Sampling(**{name: getattr(self, name) for name in self.__struct_fields__ if name in names})

    def of_run(self, n_ctx: int | None, begun_at: str = "") -> RunSettings:
        """As they are kept with an answer; arguments as in `RunSettings`."""
        return RunSettings(
            sampling=self.sampling(),
            max_tokens=self.max_tokens,
            n_ctx=n_ctx,
            system_prompt=self.system_prompt,
            thinking=self.thinking(),
            prefill=self.prefill,
            begun_at=begun_at,
        )

    def thinking(self) -> Thinking:
        """How much a model may think, as the engine takes it."""
        return Thinking(enabled=self.think, budget=self.think_tokens)
