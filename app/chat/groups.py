"""Headings of the list of conversations, by age."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final


class Group(StrEnum):
    """How long ago a conversation changed, in days of the local calendar."""

    TODAY = "Today"
    YESTERDAY = "Yesterday"
    WEEK = "Previous 7 days"
    MONTH = "Previous 30 days"
    OLDER = "Older"


def day_of(seconds: float) -> date:
    """The local day of a time in seconds since 1970; the first day there is for times no calendar has."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().date()
    except (OverflowError, OSError, ValueError):
        return date.min


def group_of(updated: float, today: date) -> Group:
    """The heading for a conversation that changed at ``updated``. The future counts as today."""
    days = (today - day_of(updated)).days
    if days <= 0:
        return Group.TODAY
    if days == 1:
        return Group.YESTERDAY
    if days <= 7:
        return Group.WEEK
    return Group.MONTH if days <= 30 else Group.OLDER


_DAYS: Final = ((0, Group.TODAY), (1, Group.YESTERDAY), (7, Group.WEEK), (30, Group.MONTH))
_LATEST: Final = 1e11
"""Seconds since 1970: before that every time is of some calendar day."""


class Groups:
    """`group_of` for many times and one day: the calendar is asked once."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._begins = [(_midnight(today, days), group) for days, group in _DAYS]

    def of(self, updated: float) -> Group:
        """The heading for a conversation that changed at ``updated``."""
        if not 0 <= updated < _LATEST:
            return group_of(updated, self._today)
        return next((group for begin, group in self._begins if updated >= begin), Group.OLDER)


def _midnight(today: date, days: int) -> float:
    """When the day so many ``days`` ago began, in seconds since 1970."""
    try:
        day = today - timedelta(days=days)
        return datetime(day.year, day.month, day.day).timestamp()  # noqa: DTZ001 - local time is meant
    except (OverflowError, OSError, ValueError):
        return float("-inf")
