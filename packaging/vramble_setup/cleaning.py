"""`./dev clean`: removes what the set-up left, and says what."""

from __future__ import annotations

import shutil
from pathlib import Path

from vramble_setup.build_cache import cache_root
from vramble_setup.report import SetupError, say

LEFTOVERS = (
    ".venv",
    "build",
    "dist",
    "vramble.egg-info",
    ".mypy_cache",
    ".ruff_cache",
    ".pytest_cache",
    ".hypothesis",
)


def clean(checkout: Path, arguments: list[str]) -> None:
    """Removes the checkout's leftovers, with --cache the build cache too."""
    unknown = [word for word in arguments if word != "--cache"]
    if unknown:
        raise SetupError(f"./dev clean does not know {unknown[0]}.", "Use: ./dev clean [--cache]")
    places = [checkout / name for name in LEFTOVERS]
    places += [path for top in ("app", "ui", "engine", "tests", "packaging") for path in _bytecode(checkout / top)]
    if "--cache" in arguments:
        places.append(cache_root())
    removed = [place for place in places if _remove(place)]
    shown = [place for place in removed if place.name != "__pycache__"]
    for place in shown:
        say(f"Removed {place}")
    if not removed:
        say("Nothing to remove.")


def _bytecode(folder: Path) -> list[Path]:
    return sorted(folder.rglob("__pycache__")) if folder.is_dir() else []


def _remove(place: Path) -> bool:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
        return True
    if place.exists():
        place.unlink()
        return True
    return False
