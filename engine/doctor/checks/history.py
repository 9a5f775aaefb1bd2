"""The database of conversations."""

from __future__ import annotations

from pathlib import Path

from engine.chat.checking import Health, examine_file
from engine.doctor.facts import Facts, History
from engine.doctor.records import Finding, Skipped, Status

GB = 10**9
RESTART = "Start Vramble: it keeps the damaged file and recovers what can be read. `vramble backup` before helps."


def look_at(database: Path) -> History | None:
    """The database as it is, examined; None when there is none yet. Reads all of it."""
    try:
        health = examine_file(database)
    except FileNotFoundError:
        return None
    except OSError as error:
        return History(trouble=error.strerror or type(error).__name__, unreadable=True)
    return History(conversations=health.conversations, messages=health.messages, trouble=_trouble(health))


def history(facts: Facts) -> Finding | Skipped:
    """Whether the database is whole."""
    found = facts.install.history
    if found is None:
        return Skipped("There are no conversations yet.")
    if found.unreadable:
        return Finding(Status.WARN, f"The conversations cannot be examined: {found.trouble}.")
    counted = f"{found.conversations} conversations with {found.messages} messages"
    if not found.trouble:
        return Finding(Status.OK, f"{counted}, checked")
    return Finding(Status.FAIL, f"The database of conversations is damaged: {found.trouble}.", RESTART)


def _trouble(health: Health) -> str:
    found = list(health.damage[:1])
    if health.lost:
        found.append(f"{health.lost} rows belong to nothing")
    if health.misplaced:
        found.append(f"{health.misplaced} messages have lost their place")
    return ", ".join(found)
