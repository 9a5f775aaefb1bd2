"""Conversations in the shape that chat templates accept. What is stored and shown stays as it was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from engine.errors import VrambleError
from engine.protocol.types import ChatMessage

SYSTEM, USER, ASSISTANT = "system", "user", "assistant"
ROLES = (SYSTEM, USER, ASSISTANT)


def normalise(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The conversation with at most one system message, first, then user and assistant in turns, user first and last.

    Turns without text are left out (an answer that was stopped before its first token). Neighbours of one role are
    joined by a blank line. System messages that follow each other are joined; a later one replaces them. An answer
    before the first question is left out: many templates refuse it.

    Raises:
        VrambleError: ``empty-prompt`` when the last turn holds no text of the user; ``unknown-role``.
    """
    for message in messages:
        if message.role not in ROLES:
            raise VrambleError(
                "unknown-role", f"The role {message.role!r} is not known.", "Use system, user or assistant."
            )
    if not messages or messages[-1].role != USER or not messages[-1].content.strip():
        raise VrambleError("empty-prompt", "There is no text to answer.", "Write a message first.")
    spoken = [message for message in messages if message.content.strip()]
    turns = _joined(message for message in spoken if message.role != SYSTEM)
    if turns[0].role == ASSISTANT:
        turns = turns[1:]
    system = [message for message in _joined(spoken) if message.role == SYSTEM]
    return [*system[-1:], *turns]


def _joined(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    return [
        ChatMessage(
            role=role,
            content="\n\n".join(message.content for message in group),
            thinking="\n\n".join(message.thinking for message in group if message.thinking.strip()),
        )
        for role, group in ((role, list(turns)) for role, turns in groupby(messages, key=lambda message: message.role))
    ]


def without_system(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """``messages`` with the system text put in front of the first user turn, for templates that know no system role."""
    if not messages or messages[0].role != SYSTEM:
        return list(messages)
    system, first, *rest = messages
    return [ChatMessage(role=first.role, content=f"{system.content}\n\n{first.content}"), *rest]
