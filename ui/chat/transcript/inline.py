"""Inline Markdown tokens to styled text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it.token import Token

from ui.chat.transcript.blocks import Span, Style, Styled
from ui.chat.transcript.footnotes import MARK
from ui.chat.transcript.math_rules import INLINE, written

_OPENERS = {"strong": Style.BOLD, "em": Style.ITALIC, "s": Style.STRIKE}
_BARE_LINK = re.compile(r"(?<![\w@/.:])(?:https?://|www\.)[^\s<>\"`]{2,2000}", re.IGNORECASE)
_TRAILING = ".,;:!?'\"*_~"


class _Writer:
    """Collects text and runs while the tokens are walked."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.spans: list[Span] = []
        self.length = 0
        self.styles: list[Style] = []
        self.hrefs: list[str] = []

    def write(self, text: str, extra: Style = Style.PLAIN, href: str = "") -> None:
        if not text:
            return
        style = extra
        for one in self.styles:
            style |= one
        href = self.hrefs[-1] if self.hrefs else href
        if href:
            style |= Style.LINK
        if style:
            self._span(Span(self.length, len(text), style, href))
        self.pieces.append(text)
        self.length += len(text)

    def _span(self, span: Span) -> None:
        last = self.spans[-1] if self.spans else None
        same = last and last.start + last.length == span.start and (last.style, last.href) == (span.style, span.href)
        if last and same and not span.style & (Style.CODE | Style.MATH):
            self.spans[-1] = Span(last.start, last.length + span.length, span.style, span.href)
        else:
            self.spans.append(span)

    def result(self) -> Styled:
        return Styled("".join(self.pieces), tuple(self.spans))


def styled(tokens: Sequence[Token]) -> Styled:
    """The children of one inline token as text with runs. Line ends of the source stay line ends."""
    writer = _Writer()
    for token in tokens:
        _write_token(writer, token)
    return writer.result()


def _write_token(writer: _Writer, token: Token) -> None:
    kind = token.type
    if _write_leaf(writer, token):
        return
    if kind == "link_open":
        writer.hrefs.append(str(token.attrGet("href") or "") or "#")
    elif kind == "link_close":
        writer.hrefs.pop()
    elif kind.endswith("_open") and kind[:-5] in _OPENERS:
        writer.styles.append(_OPENERS[kind[:-5]])
    elif kind.endswith("_close") and kind[:-6] in _OPENERS:
        writer.styles.pop()
    elif writer.hrefs:
        writer.write(token.content)
    else:
        for text, href in with_bare_links(token.content):
            writer.write(text, href=href)


def _write_leaf(writer: _Writer, token: Token) -> bool:
    """Write what is not running text. False: it is something else."""
    if token.type in ("softbreak", "hardbreak"):
        writer.write("\n")
    elif token.type == "code_inline":
        writer.write(token.content, Style.CODE)
    elif token.type in INLINE:
        writer.write(written(token.content, token.markup or "$"), Style.MATH)
    elif token.type == MARK:
        writer.write(f"[{token.content}]", Style.RAISED)
    elif token.type == "image":
        writer.write(styled(token.children or []).text or "picture", Style.PICTURE, str(token.attrGet("src") or ""))
    else:
        return False
    return True


def with_bare_links(text: str) -> Iterator[tuple[str, str]]:
    """``text`` in pieces, each with the address that it is, or an empty one."""
    end = 0
    for match in _BARE_LINK.finditer(text):
        shown = _without_trailing(match.group())
        if match.start() > end:
            yield text[end : match.start()], ""
        yield shown, shown if "://" in shown else "https://" + shown
        end = match.start() + len(shown)
    if end < len(text):
        yield text[end:], ""


def _without_trailing(address: str) -> str:
    """An address without the punctuation of the sentence around it; a closing bracket stays when it was opened."""
    while address and (address[-1] in _TRAILING or _closes_too_much(address)):
        address = address[:-1]
    return address


def _closes_too_much(address: str) -> bool:
    opening = {")": "(", "]": "["}.get(address[-1])
    return opening is not None and address.count(address[-1]) > address.count(opening)


def with_links(text: str) -> Styled:
    """Text that is no Markdown: only addresses in it become links."""
    writer = _Writer()
    for piece, href in with_bare_links(text):
        writer.write(piece, href=href)
    return writer.result()
