"""Fit badges in words. Pure, apart from translation."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication

from app.fit.badges import Badge
from engine.memory.fit.records import FitPlan, Verdict
from ui.load.summary import LOOKS
from ui.load.words import SURE_SPEED

_ORDER = (Verdict.FITS, Verdict.TIGHT, Verdict.PARTLY, Verdict.NO)
_STEP = 1e6


class Look(NamedTuple):
    """Text, icon, and the token of its colour."""

    text: str
    icon: str
    tint: str


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("FitBadge", text)


def look_of(badge: Badge) -> Look:
    """A word with a shape and a colour, and the speed where it fits."""
    plan = badge.plan
    verdict = Verdict.UNKNOWN if plan is None else plan.verdict
    icon, tint = LOOKS[verdict]
    text = word(plan)
    if plan is not None and plan.speed and verdict is not Verdict.UNKNOWN:
        text = tr("{0} · {1} tok/s").format(text, _speed(plan.speed))
    return Look(text, icon, tint)


def word(plan: FitPlan | None) -> str:
    """The verdict."""
    if plan is None or plan.verdict is Verdict.UNKNOWN:
        return tr("Unknown")
    if plan.verdict is Verdict.PARTLY and plan.proposed_layers:
        return tr("Partly, {0}/{1}").format(plan.proposed_layers, plan.max_layers)
    return {
        Verdict.FITS: tr("Fits"),
        Verdict.TIGHT: tr("Tight"),
        Verdict.PARTLY: tr("CPU only"),
        Verdict.NO: tr("No"),
    }[plan.verdict]


def _speed(speed: float) -> str:
    if speed > SURE_SPEED:
        return f"{SURE_SPEED}+"
    return f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}"


def tooltip(badge: Badge) -> str:
    """The reason, and how it is known."""
    if badge.plan is None:
        return tr("Nothing is known of its header yet, or of this computer's memory.")
    lines = [badge.plan.reason]
    if badge.akin:
        lines.append(tr("Reckoned from another file of the same model."))
    lines.append(tr("Click for the sum."))
    return "\n".join(lines)


def sort_key(badge: Badge) -> float | None:
    """What fits comes first, and of that the fastest; None for what is not known."""
    plan = badge.plan
    if plan is None or plan.verdict is Verdict.UNKNOWN:
        return None
    return _ORDER.index(plan.verdict) * _STEP - min(plan.speed or 0.0, _STEP / 2)
