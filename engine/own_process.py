"""Child processes that are this program: the same Python, a module of this tree, nothing of the working folder."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path


def module_command(module: str) -> list[str]:
    """Program and arguments that run ``module``."""
    return [sys.executable, "-P", "-m", module]


def with_source(environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` with this program's code first on the module path; an installed program is found anyway."""
    env = dict(environ)
    root = source_root()
    if root is not None:
        env["PYTHONPATH"] = os.pathsep.join([str(root), *filter(None, [env.get("PYTHONPATH")])])
    return env


def source_root() -> Path | None:
    """The folder that holds `engine`, where Python does not look by itself; None when it is installed."""
    root = Path(__file__).resolve().parents[1]
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    return None if root in installed else root
