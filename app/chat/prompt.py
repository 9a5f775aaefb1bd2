"""From a stored branch to what the chat template gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.chat.records import Message, Role
from engine.protocol.types import ChatMessage


def build_prompt(system_prompt: str, messages: Iterable[Message]) -> tuple[ChatMessage, ...]:
    """System text first, then user and assistant in turn, beginning with the user.

    Answers without text are left out, whatever became of them; the partial text of a stopped or
    failed one is kept. Neighbours of one role are joined by a blank line: templates insist on
    turns, and what is stored stays as it is. Roles that are not known are left out. A thought goes with its answer; the
    template decides whether the model sees it again.
    """
    turns: list[ChatMessage] = []
    system = [system_prompt] if system_prompt.strip() else []
    for message in _spoken(messages):
        role, text, thinking = message.role, message.text, message.thinking
        if role is Role.SYSTEM:
            system.append(text)
        elif turns and turns[-1].role == role:
            before = turns[-1]
            thoughts = "\n\n".join(filter(None, (before.thinking, thinking)))
            turns[-1] = ChatMessage(role=role.value, content=f"{before.content}\n\n{text}", thinking=thoughts)
        elif turns or role is Role.USER:
            turns.append(ChatMessage(role=role.value, content=text, thinking=thinking))
    if system:
        turns.insert(0, ChatMessage(role=Role.SYSTEM.value, content="\n\n".join(system)))
    return tuple(turns)


def _spoken(messages: Iterable[Message]) -> Iterator[Message]:
    for message in messages:
        if message.role is not Role.OTHER and message.text.strip():
            yield message
