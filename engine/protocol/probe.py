"""What a self-test reads off a model: token probabilities at some places of a text."""

from __future__ import annotations

import msgspec

from engine.protocol.types import LoadOptions


class Candidate(msgspec.Struct, frozen=True, array_like=True):
    """A token and the natural logarithm of its probability."""

    token: int
    logprob: float


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """What the model expects after ``read`` tokens.

    Attributes:
        read: Number of tokens before this place.
        finite: The logits are numbers; where they are not, ``best`` is empty.
        best: The likeliest tokens, the best first.
    """

    read: int
    finite: bool = True
    best: tuple[Candidate, ...] = ()


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """The places, and what was read.

    Attributes:
        tokens: A fixed text, then the tokens that the model itself chose after it.
        chosen: How many of ``tokens`` are the model's own, at the end.
        positions: In the order of the text.
        skipped: Why nothing was read off; empty when something was.
    """

    tokens: tuple[int, ...] = ()
    chosen: int = 0
    positions: tuple[Position, ...] = ()
    skipped: str = ""


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """What a device is compared with: the same tokens, computed by the CPU.

    Attributes:
        path: The model file.
        options: As it was loaded on the device.
        probe: What the device gave.
    """

    path: str
    options: LoadOptions
    probe: Probe
