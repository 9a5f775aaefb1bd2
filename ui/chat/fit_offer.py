"""A load that would not fit: what would, as buttons of one notice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QCoreApplication

from app.notices import Action
from engine.memory.fit.records import FitPlan, Suggestion
from engine.protocol.types import LoadOptions
from ui.load import words

LoadWith = Callable[[LoadOptions], None]

MOST = 1
"""Changes that are offered beside fewer layers; the dialog has all."""


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("FitOffer", text)


def refusal(name: str, plan: FitPlan) -> str:
    """Why the model was not loaded."""
    return tr("{0} was not loaded, because it would not fit. {1}").format(name, plan.reason)


def offers(plan: FitPlan, suggestions: Sequence[Suggestion], load: LoadWith) -> tuple[Action, ...]:
    """What fits: first as it is but with fewer layers on the GPU, then the change that costs least."""
    found = []
    if plan.proposal is not None:
        proposal = plan.proposal
        found.append(Action(_proposal(plan), lambda: load(proposal)))
    other = [one for one in suggestions if one.kind not in ("layers", "cpu")][:MOST]
    found += [
        Action(words.suggestion(one), lambda options=one.plan.options: load(options))  # type: ignore[misc]
        for one in other
    ]
    return tuple(found)


def _proposal(plan: FitPlan) -> str:
    if not plan.proposed_layers:
        return tr("Load on the CPU")
    return tr("Load with {0} of {1} layers on the GPU").format(plan.proposed_layers, plan.max_layers)


def short_of_memory(plan: FitPlan | None) -> str:
    """What the forecast says of a load that failed for lack of memory."""
    if plan is None:
        return ""
    return tr("By the forecast: {0}").format(plan.reason)
