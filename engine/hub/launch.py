"""How a parent starts the hub child."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from engine.own_process import module_command, with_source


def command(folder: Path) -> list[str]:
    """Program and arguments of a child that keeps what it reads in ``folder``."""
    return [*module_command("engine.hub"), str(folder)]


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment of the child: the parent's, with this program's code first on the module path."""
    env = with_source(os.environ if base is None else base)
    env["HF_HUB_DISABLE_TELEMETRY"] = "1"
    env["PYTHONUNBUFFERED"] = "1"
    return env
