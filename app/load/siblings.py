"""Other quants of a model that are here as well."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.library.records import InstalledModel

if TYPE_CHECKING:
    from engine.memory.fit import FitPlan


def siblings(models: Iterable[InstalledModel], path: Path) -> tuple[InstalledModel, ...]:
    """Smaller files of the model at ``path``, the largest first."""
    models = tuple(models)
    own = next((model for model in models if model.path == path), None)
    if own is None:
        return ()
    alike = (model for model in models if model.can_chat and model.name.casefold() == own.name.casefold())
    smaller = (model for model in alike if model.size_bytes < own.size_bytes and model.quant != own.quant)
    return tuple(sorted(smaller, key=lambda model: -model.size_bytes))


def first_that_fits(
    found: Iterable[InstalledModel], forecast: Callable[[Path], FitPlan | None]
) -> InstalledModel | None:
    """The first one whose forecast is that it fits as asked."""
    from engine.memory.fit.records import Verdict

    for model in found:
        plan = forecast(model.path)
        if plan is not None and plan.verdict in (Verdict.FITS, Verdict.TIGHT):
            return model
    return None
