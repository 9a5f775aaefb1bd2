"""Headings of the list of conversations, by age."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum


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
