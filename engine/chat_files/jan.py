"""Exports of Jan: ``{"title", "exported_at", "messages"}``, or the folder of a thread: ``thread.json`` and
``messages.jsonl``."""

from __future__ import annotations

from typing import Any, Final

from engine.chat.portable import PortableConversation, PortableMessage
from engine.chat.portable_rows import hashed
from engine.chat_files.foreign import chain, items, mapping, parts, seconds, text

SOURCE: Final = "jan"


def fits(document: dict[str, Any]) -> bool:
    """Whether this is such an export: messages with a list of contents, each with its type."""
    messages = items(document.get("messages"))
    contents = items(mapping(messages[0]).get("content")) if messages else []
    is_jan = "exported_at" in document or document.get("object") == "thread"
    return is_jan or (bool(contents) and isinstance(mapping(contents[0]).get("text"), dict))


def conversation_of(document: dict[str, Any]) -> PortableConversation:
    """The thread."""
    listed = [mapping(message) for message in items(document.get("messages"))]
    title = text(document.get("title"))
    first = text(listed[0].get("id")) if listed else ""
    name = hashed(
        SOURCE, text(document.get("id")) or text(mapping(listed[0] if listed else 0).get("thread_id")) or first or title
    )
    listed.sort(key=lambda message: seconds(message.get("created_at")))
    messages = [_message(name, number, message) for number, message in enumerate(listed)]
    times = [message.created for message in messages if message.created]
    return PortableConversation(
        id=name,
        title=title,
        created=seconds(document.get("created")) or min(times, default=0.0),
        updated=seconds(document.get("updated")) or max(times, default=0.0),
        messages=chain(messages),
    )


def _message(conversation: str, number: int, message: dict[str, Any]) -> PortableMessage:
    said: list[str] = []
    thought: list[str] = []
    content = message.get("content")
    for piece in items(content):
        kind, words = text(mapping(piece).get("type")), _value(mapping(piece))
        (thought if kind == "reasoning" else said).append(words)
    role = text(message.get("role")) or "user"
    about = mapping(message.get("metadata"))
    return PortableMessage(
        id=hashed(conversation, text(message.get("id")) or str(number)),
        role=role,
        created=seconds(message.get("created_at")),
        model=(text(about.get("modelId")) or text(about.get("model")) or None) if role == "assistant" else None,
        parts=parts(text(content) or "\n\n".join(filter(None, said)), "\n\n".join(filter(None, thought))),
    )


def _value(piece: dict[str, Any]) -> str:
    words = piece.get("text")
    return text(words) or text(mapping(words).get("value"))
