"""The models that the program recommends: a file of the program, and which of them suit a machine."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from engine.hub.records import CatalogueModel, Purpose
from engine.memory.sizes import GIB

MOST: Final = 5
CONTEXT: Final = 8192
"""Tokens of context that a recommended model has room for."""

BUFFERS: Final = GIB // 2
"""What llama.cpp computes in, roughly; the header says it exactly once somebody looks at the model."""

READABLE: Final = 6.0
"""Tokens a second below which nobody likes to wait."""


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """What a machine has for a model: bytes, and how many bytes a second its memory gives (None: not known)."""

    size: int
    bandwidth: float | None = None


def read_catalogue(path: Path) -> tuple[CatalogueModel, ...]:
    """The models in the file, smallest first.

    Raises:
        OSError: It cannot be read.
        msgspec.DecodeError: It is not as it should be.
    """
    models = msgspec.json.decode(path.read_bytes(), type=tuple[CatalogueModel, ...])
    return tuple(sorted(models, key=lambda model: model.size))


def catalogue_file() -> Path:
    """Where the program keeps it."""
    return Path(__file__).resolve().parents[2] / "assets" / "catalogue.json"


def need(model: CatalogueModel) -> int:
    """About how many bytes the model takes with a context of `CONTEXT` tokens, before its header was read."""
    cache = model.kv_per_token * CONTEXT if model.kv_per_token is not None else model.size // 10
    return model.size + cache + BUFFERS


def recommended(models: Iterable[CatalogueModel], room: Room) -> tuple[CatalogueModel, ...]:
    """The best that fits for each purpose, one that is quick, and the next best; the best first, `MOST` at most.

    A model that would be too slow to read along is left out where there are others.
    """
    fitting = [model for model in models if need(model) <= room.size]
    fast = [model for model in fitting if (speed(model, room) or READABLE) >= READABLE]
    ranked = sorted(fast or fitting, key=lambda model: -model.rank)
    best = [next((model for model in ranked if purpose in model.purposes), None) for purpose in Purpose]
    wanted = [*best, _quick(ranked), *ranked]
    chosen = list(dict.fromkeys(model for model in wanted if model is not None))[:MOST]
    return tuple(sorted(chosen, key=lambda model: -model.rank))


def speed(model: CatalogueModel, room: Room) -> float | None:
    """Tokens a second at most: each one reads the active weights once from memory."""
    if room.bandwidth is None:
        return None
    return room.bandwidth / (model.size * (model.active or model.n_params) / model.n_params)


def _quick(ranked: Sequence[CatalogueModel]) -> CatalogueModel | None:
    """The best of those that need a third of the work of the best one, when that is dense."""
    if not ranked or ranked[0].active is not None:
        return None
    most = ranked[0].n_params / 3
    return next((model for model in ranked if (model.active or model.n_params) <= most), None)
