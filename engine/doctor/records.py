"""What the doctor hands out."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Status(StrEnum):
    """The verdict of one check."""

    OK = "ok"
    """As it should be, or a choice that costs nothing."""
    WARN = "warn"
    """It works, but worse than it could; or what should be known cannot be found out."""
    FAIL = "fail"
    """It keeps the engine or a GPU from being used."""


WORST_FIRST = (Status.FAIL, Status.WARN, Status.OK)


class Fix(msgspec.Struct, frozen=True):
    """One line to copy into a terminal. ``survives``: see `Check`."""

    line: str
    survives: bool | None = None


class Finding(msgspec.Struct, frozen=True):
    """What a check function returns. Sentences carry no user names, home folders or serial numbers."""

    status: Status
    found: str
    advice: str = ""
    fix: Fix | None = None


class Skipped(msgspec.Struct, frozen=True):
    """A check that does not apply here, or whose fact cannot be had and would change nothing."""

    reason: str


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check as it is shown. The field names are the keys of ``vramble doctor --json``.

    Attributes:
        id: Stable kebab-case word.
        found: What is so, as one line.
        advice: What to do about it; empty when there is nothing to do.
        fix: One line to copy, or None.
        survives: Whether what ``fix`` does outlives an update of SteamOS, whose root is read-only. None on other
            systems, without a fix, or where it is not known.
    """

    id: str
    status: Status
    found: str
    advice: str = ""
    title: str = ""
    fix: str | None = None
    survives: bool | None = None


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A check without a verdict, and why."""

    id: str
    title: str
    reason: str


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """All checks, worst first, and those that were left out."""

    checks: tuple[Check, ...]
    left_out: tuple[LeftOut, ...] = ()

    def count(self, status: Status) -> int:
        """How many checks have this verdict."""
        return sum(check.status is status for check in self.checks)
