"""Exports of Open WebUI: a list of chats, each a tree in ``chat.history``, older ones a list in ``chat.messages``."""

from __future__ import annotations

from typing import Any, Final

from engine.chat.portable import PortableConversation, PortableMessage
from engine.chat.portable_rows import hashed
from engine.chat_files.foreign import chain, items, mapping, parts, seconds, text

SOURCE: Final = "open-webui"
_REASONING: Final = ("<details", "</details>")


def fits(document: dict[str, Any]) -> bool:
    """Whether this is such a chat, with the record of the server around it or not."""
    chat = mapping(document.get("chat")) or document
    messages = mapping(chat.get("history")).get("messages")
    return isinstance(messages, dict) or (bool(document.get("chat")) and isinstance(chat.get("messages"), list))


def conversation_of(document: dict[str, Any]) -> PortableConversation:
    """The chat."""
    chat = mapping(document.get("chat")) or document
    history = mapping(chat.get("history"))
    name = hashed(SOURCE, text(document.get("id")) or text(chat.get("id")) or repr(chat.get("timestamp")))
    stored = mapping(history.get("messages"))
    messages = [_message(name, key, mapping(value)) for key, value in stored.items()]
    found = tuple(messages)
    if not found:
        listed = enumerate(items(chat.get("messages")))
        found = chain([_message(name, str(number), mapping(value)) for number, value in listed])
    current = text(history.get("currentId"))
    return PortableConversation(
        id=name,
        title=text(document.get("title")) or text(chat.get("title")),
        created=seconds(document.get("created_at")) or seconds(chat.get("timestamp")),
        updated=seconds(document.get("updated_at")) or seconds(chat.get("timestamp")),
        tip=hashed(name, current) if current in stored else None,
        archived=document.get("archived") is True,
        pinned=document.get("pinned") is True,
        messages=found,
    )


def _message(conversation: str, key: str, message: dict[str, Any]) -> PortableMessage:
    content = message.get("content")
    said = text(content) or "\n\n".join(text(mapping(piece).get("text")) for piece in items(content))
    parent = text(message.get("parentId"))
    role = text(message.get("role")) or "user"
    said, thought = _split(said) if role == "assistant" else (said, "")
    return PortableMessage(
        id=hashed(conversation, key),
        parent=hashed(conversation, parent) if parent else None,
        role=role,
        created=seconds(message.get("timestamp")),
        model=(text(message.get("modelName")) or text(message.get("model")) or None) if role == "assistant" else None,
        parts=parts(said, thought),
    )


def _split(said: str) -> tuple[str, str]:
    """An answer and the thought that stands before it in a ``<details type="reasoning">``."""
    begin, end = _REASONING
    start = said.lstrip()
    head, mark, rest = start.partition(">")
    if not (start.startswith(begin) and mark and 'type="reasoning"' in head) or end not in rest:
        return said, ""
    inner, _, answer = rest.partition(end)
    _, found, thought = inner.partition("</summary>")
    lines = (thought if found else inner).strip().splitlines()
    return answer.lstrip(), "\n".join(line.removeprefix("> ").removeprefix(">") for line in lines)
