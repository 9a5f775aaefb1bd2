"""How a parent starts the download child."""

from __future__ import annotations

import os
from collections.abc import Mapping

from engine.own_process import module_command, with_source


def command() -> list[str]:
    """Program and arguments of the child."""
    return module_command("engine.downloads")


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment of the child: the parent's, with this program's code first on the module path.

    The faster transfer library is switched off: it does its own, unresumable writing.
    """
    env = with_source(os.environ if base is None else base)
    env["HF_HUB_DISABLE_TELEMETRY"] = "1"
    env["HF_HUB_DISABLE_XET"] = "1"
    env["PYTHONUNBUFFERED"] = "1"
    return env
