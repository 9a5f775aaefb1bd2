"""HTML inside Markdown, as model cards have it, turned into the Markdown that says the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Final

COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
UNSEEN: Final = re.compile(r"<(script|style|svg|iframe|object|video|audio|template)\b[^<>]*>", re.IGNORECASE)
TAG: Final = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]{0,30})(?P<rest>(?:\s[^<>]{0,4000})?)/?>")
ATTRIBUTE: Final = re.compile(
    r"""\b(?P<name>href|alt)\s{0,9}=\s{0,9}(?:"(?P<a>[^"]*)"|'(?P<b>[^']*)'|(?P<c>[^\s"'>]+))"""
)
ENTITY: Final = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});")
INDENT: Final = re.compile(r"^[ \t]+", re.MULTILINE)
SPACES: Final = re.compile(r"\s+")
BEFORE_TAG: Final = re.compile(r"^[ \t]+(?=<)", re.MULTILINE)
NEXT_LINE: Final = "\0"
"""Marks where a row or an item begins; the card has none of its own."""

MARKS: Final = {
    "b": "**", "strong": "**", "i": "*", "em": "*", "code": "`", "kbd": "`", "tt": "`", "s": "~~", "del": "~~",
}  # fmt: skip
BLOCKS: Final = {
    "p", "div", "center", "section", "article", "header", "footer", "main", "ul", "ol", "dl", "table", "thead", "tbody",
    "blockquote", "details", "figure", "figcaption", "picture", "pre", "font",
}  # fmt: skip
NESTING: Final = BLOCKS - {"p"}
"""Blocks that have to be closed."""
HEADING: Final = re.compile(r"h([1-6])")
KEPT_ENTITIES: Final = {"<", ">", "&", "`", "*", "_", "[", "]", "#", "|", "\\"}
"""Signs that would mean something else when they stood there by themselves."""


def without_html(text: str, tags: Rewriter) -> str:
    """``text`` without tags, comments and what they hide. ``tags`` remembers what earlier pieces opened."""
    if "<" in text or tags.inside:
        text = tags.run(BEFORE_TAG.sub("", _unseen(COMMENT.sub("", text))))
    return ENTITY.sub(_sign, text)


def _unseen(text: str) -> str:
    """Without the elements whose content nobody should read, each up to its end tag."""
    parts, at = [], 0
    lower = text.lower()
    endless: set[str] = set()
    for found in UNSEEN.finditer(text):
        name = found[1].lower()
        if found.start() < at or name in endless:
            continue
        end = lower.find(f"</{name}", found.end())
        if end < 0:
            endless.add(name)
            continue
        parts.append(text[at : found.start()])
        close = lower.find(">", end)
        at = close + 1 if close >= 0 else len(text)
    return "".join([*parts, text[at:]])


def _sign(found: re.Match[str]) -> str:
    sign = unescape(found[0])
    return found[0] if sign in KEPT_ENTITIES else "" if sign < " " else sign


class Rewriter:
    """Replaces the tags of one card, piece after piece.

    Attributes:
        inside: How many blocks are open.
    """

    def __init__(self) -> None:
        self.inside = 0
        self._links: list[str] = []
        self._cells = 0
        self._rows = 0

    def run(self, text: str) -> str:
        """The text with Markdown in place of tags. Inside blocks an indentation means nothing."""
        parts, at = [], 0
        for found in TAG.finditer(text):
            parts += [self._between(text[at : found.start()]), self._replace(found)]
            at = found.end()
        lines = "".join([*parts, self._between(text[at:])]).split(NEXT_LINE)
        return "\n".join([*(line.rstrip() for line in lines[:-1]), lines[-1]])

    def _between(self, text: str) -> str:
        if self._cells:
            return SPACES.sub(" ", text)
        return INDENT.sub("", text) if self.inside else text

    def _replace(self, found: re.Match[str]) -> str:
        name, ending = found["name"].lower(), bool(found["end"])
        special: dict[str, Callable[[bool, str], str]] = {
            "a": self._link,
            "br": lambda _end, _rest: "  \n" if not self._cells else " ",
            "hr": lambda _end, _rest: "\n\n---\n\n",
            "img": lambda _end, rest: _attribute(rest, "alt"),
            "li": lambda end, _rest: "" if end else f"{NEXT_LINE}- ",
            "summary": lambda end, _rest: "**\n\n" if end else "\n\n**",
            "tr": self._row,
            "td": self._cell,
            "th": self._cell,
        }
        if name in special:
            return special[name](ending, found["rest"])
        if name in MARKS:
            return MARKS[name]
        if heading := HEADING.fullmatch(name):
            return "\n\n" if ending else f"\n\n{'#' * int(heading[1])} "
        if name not in BLOCKS:
            return ""
        self.inside = max(0, self.inside + (-1 if ending else 1)) if name in NESTING else self.inside
        if name == "table":
            self._rows = 0
        return "" if self._cells else "\n\n"

    def _link(self, ending: bool, rest: str) -> str:
        if not ending:
            self._links.append(_attribute(rest, "href"))
            return "[" if self._links[-1] else ""
        target = self._links.pop() if self._links else ""
        return f"]({target})" if target else ""

    def _row(self, ending: bool, _rest: str) -> str:
        if not ending:
            self._cells = 0
            return NEXT_LINE if self._rows else "\n\n"
        cells, self._cells = self._cells, 0
        self._rows += 1
        rule = "\n|" + "---|" * cells if self._rows == 1 and cells else ""
        return f" |{rule}" if cells else ""

    def _cell(self, ending: bool, _rest: str) -> str:
        if ending:
            return ""
        self._cells += 1
        return " | " if self._cells > 1 else "| "


def _attribute(rest: str, name: str) -> str:
    """Its value on one line, without signs that would end a link."""
    for found in ATTRIBUTE.finditer(rest):
        if found["name"] == name:
            value = unescape(found["a"] or found["b"] or found["c"] or "")
            return " ".join(value.split()).replace("(", "%28").replace(")", "%29") if name == "href" else _plain(value)
    return ""


def _plain(value: str) -> str:
    return " ".join(re.sub(r"[\[\]<>]", " ", value).split())[:300]
