"""How a parent starts the download child."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import engine

ROOT = Path(engine.__file__).resolve().parent.parent


def command() -> list[str]:
    """Program and arguments of the child."""
    return [sys.executable, "-P", "-m", "engine.downloads"]


def environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Environment of the child: the parent's, with this program's code first on the module path.

    The faster transfer library is switched off: it does its own, unresumable writing.
    """
    env = dict(os.environ if base is None else base)
    old = env.get("PYTHONPATH", "")
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([old] if old else [])])
    env["HF_HUB_DISABLE_TELEMETRY"] = "1"
    env["HF_HUB_DISABLE_XET"] = "1"
    env["PYTHONUNBUFFERED"] = "1"
    return env
