"""Facts of repositories and of the catalogue in words. Pure, apart from translation."""

from __future__ import annotations

import time
from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication

from engine.errors import VrambleError
from engine.hub.quality import Quality
from engine.hub.records import CatalogueModel, Gate, Purpose, RepoSummary, Sort
from engine.library.sizes import size_text
from ui.library import words

DAY = 86_400


def tr(text: str) -> str:
    """Translate in the context of this module."""
    return QCoreApplication.translate("DiscoverWords", text)


def waits(error: VrambleError | None, left: float | None) -> str:
    """That the Hub wants to be left alone for so many seconds; it is asked again by itself. Empty: nothing waits."""
    if error is None or left is None:
        return ""
    return tr("The Hub asks to wait: {0}").format(words.wait(left))


def sentence(error: VrambleError, left: float | None) -> str:
    """What went wrong. What to do is left out where that happens by itself, with a countdown."""
    return error.sentence if left is None else error.message


def count(number: int | None) -> str:
    """Downloads and likes: 950, 12k, 1.2M; empty when unknown."""
    if number is None:
        return ""
    for limit, letter in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= limit:
            value = number / limit
            return f"{value:.0f}{letter}" if value >= 10 else f"{value:.1f}{letter}".replace(".0", "")
    return str(number)


def age(when: float | None, now: float | None = None) -> str:
    """How long ago, roughly; empty when unknown."""
    if when is None:
        return ""
    days = int(((time.time() if now is None else now) - when) // DAY)
    if days < 1:
        return tr("today")
    for limit, unit, one, many in (
        (14, 1, tr("yesterday"), tr("{0} days ago")),
        (60, 7, tr("last week"), tr("{0} weeks ago")),
        (730, 30, tr("last month"), tr("{0} months ago")),
    ):
        if days < limit:
            number = days // unit
            return one if number == 1 else many.format(number)
    return tr("{0} years ago").format(days // 365)


def quality(word: Quality) -> str:
    """What a quantisation means for the answers."""
    return {
        Quality.ORIGINAL: tr("Original"),
        Quality.NEAR: tr("Near the original"),
        Quality.VERY_GOOD: tr("Very good"),
        Quality.GOOD: tr("Good"),
        Quality.FAIR: tr("Weaker"),
        Quality.LOW: tr("Clearly weaker"),
        Quality.POOR: tr("Poor"),
    }.get(word, "")


def sort(order: Sort) -> str:
    """Name of an order."""
    return {
        Sort.TRENDING: tr("Trending"),
        Sort.DOWNLOADS: tr("Most downloads"),
        Sort.LIKES: tr("Most likes"),
        Sort.UPDATED: tr("Recently updated"),
        Sort.CREATED: tr("Newest"),
    }[order]


def purpose(one: Purpose) -> str:
    """What a model is good at."""
    return {
        Purpose.CHAT: tr("chat"),
        Purpose.CODE: tr("code"),
        Purpose.REASONING: tr("reasoning"),
        Purpose.VISION: tr("pictures"),
        Purpose.LANGUAGES: tr("languages"),
        Purpose.TOOLS: tr("tools"),
    }[one]


def purposes(all_of_them: Sequence[Purpose]) -> str:
    """The same for several."""
    return ", ".join(purpose(one) for one in all_of_them)


def licence(name: str) -> str:
    """As people write it: Apache-2.0, MIT, Llama 3.1."""
    known = {"apache-2.0": "Apache-2.0", "mit": "MIT", "gemma": "Gemma", "other": tr("Own licence")}
    lower = name.lower()
    if lower in known:
        return known[lower]
    if lower.startswith("lfm"):
        return "LFM " + lower.removeprefix("lfm").strip("-_ ")
    if lower.startswith("llama"):
        return "Llama " + lower.removeprefix("llama").strip("-_ ")
    return name.upper() if lower.startswith(("cc-", "gpl", "bsd", "agpl", "lgpl")) else name


def gate(one: Gate) -> str:
    """Empty for what everybody may have."""
    return {Gate.AUTOMATIC: tr("Licence step"), Gate.BY_HAND: tr("On request")}.get(one, "")


def gate_of(entry: CatalogueModel | None) -> Gate:
    """Of an entry of the catalogue, before the Hub was asked."""
    return Gate.AUTOMATIC if entry is not None and entry.gated else Gate.OPEN


def parameters(n_params: int | None, active: int | None = None) -> str:
    """``8.2B``, of a mixture of experts ``30B, 3B active``."""
    text = words.parameters(n_params)
    if not active or not text:
        return text
    return tr("{0}, {1} active").format(text, words.parameters(active))


def facts_of_repo(found: RepoSummary) -> str:
    """The second line of a search result."""
    facts = (
        found.author,
        words.parameters(found.n_params),
        words.context(found.context_length),
        licence(found.licence) if found.licence else "",
        age(found.updated),
    )
    return " · ".join(fact for fact in facts if fact)


def facts_of_catalogue(model: CatalogueModel) -> str:
    """The second line of an entry of the catalogue."""
    facts = (
        purposes(model.purposes[:1]),
        parameters(model.n_params, model.active),
        size_text(model.size),
        licence(model.licence),
    )
    return " · ".join(fact for fact in facts if fact)


def spoken_repo(found: RepoSummary) -> str:
    """What a screen reader says of a search result."""
    parts = [found.name, facts_of_repo(found), gate(found.gate)]
    if found.downloads is not None:
        parts.append(tr("{0} downloads in the last month").format(found.downloads))
    if found.likes is not None:
        parts.append(tr("{0} likes").format(found.likes))
    return ", ".join(part for part in parts if part)


def spoken_catalogue(model: CatalogueModel) -> str:
    """What a screen reader says of an entry of the catalogue."""
    parts = [model.name, facts_of_catalogue(model), tr("for the Steam Deck") if model.deck else ""]
    return ", ".join(part for part in parts if part)
