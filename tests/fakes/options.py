"""Load options as the window asks for them."""

from __future__ import annotations

from typing import Any

import msgspec

from app.settings.records import EngineSettings
from engine.protocol.types import LoadOptions


def window_options(**fields: Any) -> LoadOptions:
    """What the settings say where nothing was changed, with these fields in place of theirs."""
    return msgspec.structs.replace(EngineSettings().load_options(), **fields)
