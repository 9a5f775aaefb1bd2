"""Exports to read: Markdown, plain text, one HTML page without scripts; the shown branch of each conversation."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Final

from engine.chat.portable import PortableConversation, PortableMessage
from engine.chat.records import UNTITLED, Role

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

RULE: Final = "-" * 72
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_STYLE: Final = (
    "body{max-width:46rem;margin:2rem auto;padding:0 1rem;font:16px/1.55 system-ui,sans-serif;color:#1e1f22;"
    "background:#fbfaf8}h1{font-size:1.5rem;border-bottom:1px solid #dedbd5;padding-bottom:.4rem;margin-top:3rem}"
    ".who{font-weight:600;margin-top:1.6rem}.when{color:#5f6168;font-weight:400;font-size:.85rem}"
    ".user{background:#f1efeb;border-radius:10px;padding:.1rem 1rem}pre{overflow-x:auto;background:#f1efeb;"
    "padding:.8rem;border-radius:6px}code{font-family:monospace}table{border-collapse:collapse}"
    "td,th{border:1px solid #dedbd5;padding:.2rem .6rem}blockquote{border-left:3px solid #dedbd5;margin-left:0;"
    "padding-left:1rem;color:#5f6168}details{color:#5f6168}img{display:none}"
    "@media(prefers-color-scheme:dark){body{color:#e8e6e3;background:#17181b}h1,td,th,blockquote{border-color:#34373d}"
    ".user,pre{background:#282b30}.when,blockquote,details{color:#a3a6ad}a{color:#fb923c}}"
)


def author(message: PortableMessage) -> str:
    """Who wrote a message, for a reader."""
    if message.role == Role.USER:
        return "You"
    return message.model or ("Model" if message.role == Role.ASSISTANT else message.role)


def title(conversation: PortableConversation) -> str:
    """The title, also of a conversation without one."""
    return conversation.title or UNTITLED


def when(seconds: float) -> str:
    """A time of the local clock; "" for none."""
    try:
        return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M") if seconds > 0 else ""
    except (OverflowError, OSError, ValueError):
        return ""


def markdown(conversations: Iterable[PortableConversation]) -> Iterator[bytes]:
    """Markdown: a heading for each conversation, a smaller one for each message, thoughts as quotations."""
    for conversation in conversations:
        lines = [f"# {_heading(title(conversation))}", ""]
        for message in conversation.shown():
            moment = when(message.created)
            lines += [f"## {_heading(author(message))}" + (f" ({moment})" if moment else ""), ""]
            if message.thinking:
                lines += ["> " + line for line in message.thinking.splitlines()] + [""]
            lines += [_closed(message.text), ""]
        yield "\n".join(lines).encode() + b"\n"


def plain(conversations: Iterable[PortableConversation]) -> Iterator[bytes]:
    """Plain text: what was said, as it was said."""
    for conversation in conversations:
        lines = [title(conversation), RULE, ""]
        for message in conversation.shown():
            moment = when(message.created)
            lines += [f"{author(message)}" + (f", {moment}" if moment else "") + ":", "", message.text, "", ""]
        yield "\n".join(lines).encode() + b"\n"


def page(conversations: Iterable[PortableConversation]) -> Iterator[bytes]:
    """One HTML page that needs nothing else: no scripts, no pictures, nothing from a network."""
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Vramble</title><style>{_STYLE}</style></head><body>\n"
    ).encode()
    for conversation in conversations:
        yield f"<h1 dir=auto>{html.escape(title(conversation))}</h1>\n".encode()
        for message in conversation.shown():
            yield _message(message).encode()
    yield b"</body></html>\n"


def _message(message: PortableMessage) -> str:
    render = _renderer().render
    moment = when(message.created)
    head = f"<div class=who>{html.escape(author(message))} <span class=when>{moment}</span></div>"
    thought = ""
    if message.thinking:
        thought = f"<details><summary>Thought</summary>{render(message.thinking)}</details>"
    kind = "user" if message.role == Role.USER else "other"
    body = f"<p>{html.escape(message.text)}</p>".replace("\n", "<br>\n") if kind == "user" else render(message.text)
    return f"{head}\n{thought}<div class={kind} dir=auto>{body}</div>\n"


@cache
def _renderer() -> MarkdownIt:
    """CommonMark with tables and strikethrough; HTML of a message is text, pictures are their descriptions."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def _heading(text: str) -> str:
    return " ".join(text.split())


def _closed(text: str) -> str:
    """``text`` with its last fence closed, so that it does not swallow the messages below."""
    opened = ""
    for match in _FENCE.finditer(text):
        mark = match.group(1)
        if not opened:
            opened = mark
        elif mark[0] == opened[0] and len(mark) >= len(opened):
            opened = ""
    return f"{text}\n{opened}" if opened else text
