"""``conversations.json`` of a ChatGPT export: a list of conversations, each a tree in ``mapping``."""

from __future__ import annotations

from typing import Any, Final

from engine.chat.portable import PortableConversation, PortableMessage
from engine.chat.portable_rows import hashed
from engine.chat_files.foreign import items, mapping, parts, seconds, text

SOURCE: Final = "chatgpt"
_SPEAKERS: Final = ("user", "assistant")
_THOUGHTS: Final = ("thoughts", "reasoning_recap")
_CODE: Final = ("code", "execution_output")


def fits(document: dict[str, Any]) -> bool:
    """Whether this is such a conversation."""
    return isinstance(document.get("mapping"), dict)


def conversation_of(document: dict[str, Any]) -> PortableConversation:
    """The conversation. Hidden and empty nodes are left out; what follows them takes their place."""
    nodes = mapping(document["mapping"])
    own = text(document.get("conversation_id")) or text(document.get("id"))
    name = hashed(SOURCE, own or text(document.get("title")) + repr(document.get("create_time")))
    model = text(document.get("default_model_slug"))
    messages = {key: _message(name, key, mapping(node), model) for key, node in nodes.items()}
    found = []
    nearest: dict[str, str | None] = {}
    for key in _parents_first(nodes):
        message = messages[key]
        above = nearest[key] = _above(key, nodes, messages, nearest)
        if message is not None:
            found.append(_below(message, None if above is None else hashed(name, above)))
    tip = text(document.get("current_node"))
    shown = tip if messages.get(tip) is not None else _above(tip, nodes, messages, nearest)
    return PortableConversation(
        id=name,
        title=text(document.get("title")),
        created=seconds(document.get("create_time")),
        updated=seconds(document.get("update_time")),
        tip=None if shown is None else hashed(name, shown),
        archived=document.get("is_archived") is True,
        pinned=document.get("is_starred") is True,
        messages=tuple(found),
    )


def _message(conversation: str, key: str, node: dict[str, Any], model: str) -> PortableMessage | None:
    """The message of a node; None for one that nobody should see."""
    message = mapping(node.get("message"))
    role = text(mapping(message.get("author")).get("role"))
    about = mapping(message.get("metadata"))
    hidden = about.get("is_visually_hidden_from_conversation") is True or about.get("is_user_system_message") is True
    said, thought = _words(mapping(message.get("content")))
    if role not in _SPEAKERS or hidden or not (said.strip() or thought.strip()):
        return None
    author = text(about.get("model_slug")) or model
    return PortableMessage(
        id=hashed(conversation, key),
        role=role,
        created=seconds(message.get("create_time")),
        model=author or None if role == "assistant" else None,
        parts=parts(said, thought),
    )


def _words(content: dict[str, Any]) -> tuple[str, str]:
    """What is said and what is thought."""
    kind = text(content.get("content_type"))
    if kind in _THOUGHTS:
        thoughts = [text(mapping(one).get("content")) for one in items(content.get("thoughts"))]
        return "", "\n\n".join(filter(None, thoughts)) or text(content.get("content"))
    if kind == "user_editable_context":
        return "", ""
    pieces = [
        piece if isinstance(piece, str) else text(mapping(piece).get("text")) for piece in items(content.get("parts"))
    ]
    said = "\n\n".join(piece for piece in pieces if piece)
    if not said and kind in _CODE:
        language = text(content.get("language"))
        code = text(content.get("text"))
        said = f"```{language if language.isalnum() else ''}\n{code}\n```" if code else ""
    return said or text(content.get("text")), ""


def _above(
    key: str, nodes: dict[str, Any], messages: dict[str, PortableMessage | None], nearest: dict[str, str | None]
) -> str | None:
    """The nearest node above that has a message; ``nearest`` is what is known of nodes above."""
    seen = {key}
    at = text(mapping(nodes.get(key)).get("parent"))
    while at and at not in seen and at in nodes:
        if messages.get(at) is not None:
            return at
        if at in nearest:
            return nearest[at]
        seen.add(at)
        at = text(mapping(nodes[at]).get("parent"))
    return None


def _parents_first(nodes: dict[str, Any]) -> list[str]:
    """All nodes; each after those above it, as far as the links are a tree, children in the order of their parent."""
    order: dict[str, None] = {}
    children: dict[str, list[str]] = {}
    for key, node in nodes.items():
        children.setdefault(text(mapping(node).get("parent")), []).append(key)
    for parent, below in children.items():
        wanted = {
            child: place
            for place, child in enumerate(items(mapping(nodes.get(parent)).get("children")))
            if isinstance(child, str)
        }
        below.sort(key=lambda child: wanted.get(child, len(wanted)))
    waiting = [key for key, node in nodes.items() if text(mapping(node).get("parent")) not in nodes]
    waiting.reverse()
    while waiting:
        key = waiting.pop()
        if key not in order:
            order[key] = None
            waiting += reversed(children.get(key, []))
    return [*order, *(key for key in nodes if key not in order)]


def _below(message: PortableMessage, parent: str | None) -> PortableMessage:
    return PortableMessage(
        id=message.id,
        parent=parent,
        role=message.role,
        created=message.created,
        model=message.model,
        parts=message.parts,
    )
