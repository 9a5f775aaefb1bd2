"""What the list of Discover shows while nothing is searched for, and what stands below it."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from engine.memory.sizes import gib_number
from ui.library.discover import words
from ui.library.discover.found import Heading, Row
from ui.library.seams import Hub


def tr(text: str) -> str:
    """Translate in the context of this module."""
    return QCoreApplication.translate("CatalogueRows", text)


def catalogue_rows(hub: Hub) -> list[Row]:
    """What suits this machine first, then the others."""
    suited = hub.recommended()
    others = [one for one in hub.catalogue if one not in suited]
    rows: list[Row] = []
    if suited:
        room = hub.room
        text = tr("They fit the {0} GiB that are free for a model").format(gib_number(room)) if room else ""
        rows += [Heading(tr("Recommended for this machine"), text), *suited]
    if others:
        rows += [Heading(tr("Other good models") if suited else tr("Good models to begin with")), *others]
    return rows


def told(hub: Hub) -> str:
    """How many there are, and how old the answer is."""
    count = len(hub.results)
    if not count:
        return ""
    text = tr("1 repository") if count == 1 else tr("{0} repositories").format(count)
    text = tr("{0}, more below").format(text) if hub.has_more else text
    if hub.from_cache and hub.read_at:
        text += " · " + tr("as of {0}").format(words.age(hub.read_at))
    return text
