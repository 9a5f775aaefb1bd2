"""``/save FILE``: a conversation as Markdown or JSON."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from app.chat.talk import Talk
from engine.errors import VrambleError
from engine.protocol.types import ModelInfo

JSON_SUFFIX = ".json"


def save(talk: Talk, model: ModelInfo, name: str, own: set[Path]) -> Path:
    """Write the conversation; a name that ends in ``.json`` is JSON, anything else Markdown.

    Args:
        own: Files that may be written over: they were saved from here before. The new one is added.

    Raises:
        VrambleError: There is nothing to save, or the file cannot be written.
    """
    if not talk.turns:
        raise VrambleError("nothing-to-save", "There is nothing to save yet.")
    path = Path(os.path.expanduser(name)).absolute()  # noqa: PTH111 - the method of Path fails for a user that is not known
    text = as_json(talk, model) if path.suffix.lower() == JSON_SUFFIX else as_markdown(talk, model)
    try:
        with path.open("w" if path in own else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise VrambleError("file-exists", f"{path} is there already.", "Choose another name.") from error
    except (OSError, ValueError) as error:
        raise VrambleError("not-saved", f"{path} could not be written: {error}.", "Choose another place.") from error
    own.add(path)
    return path


def as_json(talk: Talk, model: ModelInfo) -> str:
    """Model, how it was asked, and the messages with the figures of each answer."""
    messages: list[dict[str, object]] = []
    for turn in talk.turns:
        messages.append({"role": "user", "content": turn.question})
        end = {"finish_reason": turn.end.reason, "stats": turn.end.stats}
        messages.append({"role": "assistant", "content": turn.text, "thinking": turn.thinking or None, **end})
    manner = talk.manner
    document = {
        "model": model.name,
        "quant": model.quant,
        "system": manner.system or None,
        "sampling": manner.sampling,
        "max_tokens": manner.max_tokens,
        "messages": messages,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def as_markdown(talk: Talk, model: ModelInfo) -> str:
    """A page to read: thoughts are quotations."""
    parts = [f"# Conversation with {model.name}"]
    if talk.manner.system:
        parts.append(f"*System prompt:* {talk.manner.system}")
    for turn in talk.turns:
        parts += ["## You", turn.question.strip(), f"## {model.name}"]
        if turn.thinking.strip():
            parts.append("\n".join(f"> {line}".rstrip() for line in turn.thinking.strip().splitlines()))
        parts.append(turn.text.strip())
    return "\n\n".join(parts) + "\n"
