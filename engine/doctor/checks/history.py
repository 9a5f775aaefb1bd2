"""The database of conversations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.chat.checking import Health, examine_file
from engine.doctor.facts import Facts, History
from engine.doctor.records import Finding, Skipped, Status

QUICK = 200_000_000
"""Bytes that are read within about two seconds."""
RESTART = "Start Vramble: it keeps the damaged file and recovers what can be read. `vramble backup` before helps."


def look_at(database: Path, *, patient: bool = True, stopped: Callable[[], bool] = lambda: False) -> History | None:
    """The database as it is, examined; None when there is none yet.

    Args:
        patient: Every page is looked at, however large the file is; else only up to `QUICK` bytes.
        stopped: Whether nobody waits any more.
    """
    try:
        whole = patient or database.stat().st_size <= QUICK
        health = examine_file(database, pages=whole, stopped=stopped)
    except FileNotFoundError:
        return None
    except OSError as error:
        return History(trouble=error.strerror or type(error).__name__, unreadable=True)
    return History(conversations=health.conversations, messages=health.messages, trouble=_trouble(health), pages=whole)


def history(facts: Facts) -> Finding | Skipped:
    """Whether the database is whole."""
    found = facts.install.history
    if found is None:
        return Skipped("There are no conversations yet.")
    if found.unreadable:
        return Finding(Status.WARN, f"The conversations cannot be examined: {found.trouble}.")
    counted = f"{found.conversations} conversations with {found.messages} messages"
    if not found.trouble:
        rest = "" if found.pages else "; `vramble doctor` reads every page of so large a file"
        return Finding(Status.OK, f"{counted}, checked{rest}")
    return Finding(Status.FAIL, f"The database of conversations is damaged: {found.trouble}.", RESTART)


def _trouble(health: Health) -> str:
    found = list(health.damage[:1])
    if health.lost:
        found.append(f"{health.lost} rows belong to nothing")
    if health.misplaced:
        found.append(f"{health.misplaced} messages have lost their place")
    return ", ".join(found)
