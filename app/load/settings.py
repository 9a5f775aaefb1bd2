"""What is kept of the load options of each model."""

from __future__ import annotations

from typing import Any

import msgspec

from engine.protocol.types import DeviceKind


class SeenDevice(msgspec.Struct, frozen=True, kw_only=True):
    """The device that the last run would have loaded models on.

    Attributes:
        room: Bytes that were free for a model, roughly, on integrated graphics; None when unknown and on others.
    """

    kind: DeviceKind = DeviceKind.CPU
    room: int | None = None


class LoadSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Options chosen for single models, and what suits this machine before the worker has told its devices.

    Attributes:
        models: Path to a document with ``size`` (bytes of the file or files, 0 when unknown) and ``options`` (fields
            of `LoadOptions` that differ from the settings for all models). The newest is last.
        seen: The device of the last run.
        asked_cards: Addresses of equal cards between which the user was asked to choose.
    """

    models: dict[str, Any] = {}
    seen: SeenDevice = SeenDevice()
    asked_cards: tuple[str, ...] = ()
