"""How a model file that is not whole comes back: that depends on where it came from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.library.origin import read_origin
from engine.paths import starter_model

FROM_THE_HUB: Final = "Repair it in the models window, or with `vramble repair`: only what is wrong is fetched."
FROM_THE_INSTALLATION: Final = "Run `./dev setup` again, which brings the starter model, or choose another model."
FROM_ELSEWHERE: Final = "Get the file again from where it came from, or choose another model."


def way_back(path: Path, starter: Callable[[], Path | None] = starter_model) -> str:
    """A sentence that says how to get the file again.

    Args:
        starter: Gives the file of the model that came with the installation.
    """
    origin = read_origin(path)
    return FROM_THE_HUB if origin is not None and origin.repo else way_without_origin(path, starter)


def way_without_origin(path: Path, starter: Callable[[], Path | None] = starter_model) -> str:
    """The same for a file of which the Hub knows nothing."""
    return FROM_THE_INSTALLATION if _is_same(path, starter()) else FROM_ELSEWHERE


def _is_same(path: Path, other: Path | None) -> bool:
    """Whether both are one file, by a link too."""
    if other is None:
        return False
    try:
        return path.samefile(other)
    except OSError:
        return path == other
