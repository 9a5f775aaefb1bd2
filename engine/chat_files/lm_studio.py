"""``*.conversation.json`` of LM Studio: messages in a row, each with its versions."""

from __future__ import annotations

from typing import Any, Final

from engine.chat.portable import PortableConversation, PortableMessage
from engine.chat.portable_rows import hashed
from engine.chat_files.foreign import items, mapping, parts, seconds, text

SOURCE: Final = "lm-studio"
_SYSTEM: Final = "llm.prediction.systemPrompt"


def fits(document: dict[str, Any]) -> bool:
    """Whether this is such a conversation."""
    messages = items(document.get("messages"))
    return bool(messages) and isinstance(mapping(messages[0]).get("versions"), list)


def conversation_of(document: dict[str, Any]) -> PortableConversation:
    """The conversation: what follows a message belongs to the version that is selected."""
    name = hashed(SOURCE, repr(document.get("createdAt")) + text(document.get("name")))
    created = seconds(document.get("createdAt"))
    model = text(mapping(document.get("lastUsedModel")).get("identifier")) or None
    messages: list[PortableMessage] = []
    above: str | None = None
    for number, message in enumerate(items(document.get("messages"))):
        versions = [mapping(version) for version in items(mapping(message).get("versions"))]
        selected = mapping(message).get("currentlySelected")
        place = selected if isinstance(selected, int) and 0 <= selected < len(versions) else len(versions) - 1
        made = [_message(name, (number, one), above, version, model) for one, version in enumerate(versions)]
        messages += made
        above = made[place].id if made else above
    prompt = _system_prompt(document)
    return PortableConversation(
        id=name,
        title=text(document.get("name")),
        created=created,
        updated=seconds(document.get("assistantLastMessagedAt"))
        or seconds(document.get("userLastMessagedAt"))
        or created,
        tip=above,
        pinned=document.get("pinned") is True,
        settings={"system_prompt": prompt} if prompt else None,
        messages=tuple(messages),
    )


def _message(
    conversation: str, place: tuple[int, int], above: str | None, version: dict[str, Any], model: str | None
) -> PortableMessage:
    said, thought = _words(items(version.get("content"))), ""
    if not said:
        said = text(version.get("content"))
    for step in map(mapping, items(version.get("steps"))):
        words = _words(items(step.get("content")))
        if mapping(step.get("style")).get("type") == "thinking":
            thought += words
        else:
            said += words
    role = text(version.get("role")) or "user"
    sender = text(mapping(version.get("senderInfo")).get("senderName"))
    return PortableMessage(
        id=hashed(conversation, *map(str, place)),
        parent=above,
        role=role,
        model=(sender or model) if role == "assistant" else None,
        parts=parts(said, thought),
    )


def _words(content: list[Any]) -> str:
    return "\n".join(text(mapping(piece).get("text")) for piece in content if mapping(piece).get("type") == "text")


def _system_prompt(document: dict[str, Any]) -> str:
    fields = items(mapping(document.get("perChatPredictionConfig")).get("fields"))
    named = next((one for one in map(mapping, fields) if one.get("key") == _SYSTEM), {})
    return text(named.get("value")) or text(document.get("systemPrompt"))
