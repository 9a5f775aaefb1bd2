"""The record of one message, and what the transcript asks of it."""

from __future__ import annotations

from app.chat.rows import MessageRow as Row
from engine.chat.records import Role, Status

__all__ = ["Row", "is_open", "is_thinking", "is_user"]


def is_user(row: Row) -> bool:
    """Whether the message stands in a bubble."""
    return row.role is Role.USER


def is_open(row: Row) -> bool:
    """Whether more text may come."""
    return row.status is Status.STREAMING


def is_thinking(row: Row) -> bool:
    """Whether the model thinks now and has not begun to answer."""
    return is_open(row) and bool(row.thinking) and not row.text
