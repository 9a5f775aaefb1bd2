"""What a reader sees of Markdown, in one form for the parts of the transcript and for HTML.

A block is what stands by itself: its frames (quotations, list items), its markers, its kind, and its text as runs. Left
out is whether a line ends by a soft or a hard break: the specification leaves the look of soft ones to the renderer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from typing import NamedTuple

from ui.chat.transcript.blocks import TIGHT_GAP, Code, Paragraph, Part, Rule, Span, Style, Styled
from ui.chat.transcript.parse import MarkdownStream

STYLES = {"em": Style.ITALIC, "strong": Style.BOLD, "code": Style.CODE, "del": Style.STRIKE, "s": Style.STRIKE}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


class Run(NamedTuple):
    """Characters that look the same; ``title`` is what HTML shows when the pointer is over a link or a picture."""

    text: str
    style: Style = Style.PLAIN
    href: str = ""
    title: str = ""


class Block(NamedTuple):
    """One of those.

    Attributes:
        frames: As those of a part; ``fresh`` of them begin with this block.
        markers: Of the list items that begin with it, outermost first.
        tight: Whether it stands close to the item above; None where the room above says something else.
    """

    frames: str
    fresh: int
    markers: tuple[str, ...]
    kind: str
    runs: tuple[Run, ...] = ()
    tight: bool | None = None


def runs_of(styled: Styled) -> tuple[Run, ...]:
    """A text of the transcript."""
    return joined(_pieces(styled))


def _pieces(styled: Styled) -> Iterator[Run]:
    end = 0
    for span in sorted(styled.spans, key=lambda span: span.start):
        yield Run(styled.text[end : span.start])
        yield _run(styled.text, span)
        end = span.start + span.length
    yield Run(styled.text[end:])


def _run(text: str, span: Span) -> Run:
    return Run(text[span.start : span.start + span.length], span.style & ~Style.LINK, span.href)


def joined(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Neighbours that look the same are one; nothing is empty."""
    result: list[Run] = []
    for run in runs:
        if result and run[1:] == result[-1][1:]:
            result[-1] = result[-1]._replace(text=result[-1].text + run.text)
        elif run.text:
            result.append(run)
    return tuple(result)


def blocks_of(parts: Sequence[Part]) -> list[Block]:
    """What the transcript shows."""
    return [_block(number, part) for number, part in enumerate(parts)]


def _block(number: int, part: Part) -> Block:
    markers = tuple(marker.rstrip(".)") for marker in (*part.outer_markers, part.marker) if marker)
    kind, runs = _content(part)
    tight = part.gap == TIGHT_GAP if "l" in part.frames and kind == "p" and number else None
    return Block(part.frames, part.fresh, markers, kind, runs, tight)


def _content(part: Part) -> tuple[str, tuple[Run, ...]]:
    if isinstance(part, Paragraph):
        return f"h{part.level}" if part.level else "p", runs_of(part.content)
    if isinstance(part, Code):
        return f"code {part.language}".strip(), joined([Run(part.code)])
    assert isinstance(part, Rule), "the specification has nothing else"
    return "hr", ()


def shown(text: str, step: int = 0) -> list[Block]:
    """What the transcript shows of a whole answer; ``step``: it came in portions of so many characters."""
    stream = MarkdownStream()
    for end in range(step, len(text), step) if step else ():
        stream.set_text(text[:end], final=False)
        stream.advance(lambda: False)
    stream.set_text(text, final=True)
    stream.advance(lambda: False)
    return blocks_of(stream.parts)


UNFINISHED_TAG = re.compile(r"<[^<>]*\Z")


class ForeignError(Exception):
    """HTML that Markdown does not make: it stood in the text."""


class Page(HTMLParser):
    """Reads HTML as the specification writes it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._frames, self._shared = "", 0
        self._lists: list[int] = []
        """Number of the next item, -1 in a list of bullets."""
        self._items: list[int] = []
        """How many items each of these lists has had."""
        self._markers: list[str] = []
        self._open = ""
        self._runs: list[Run] = []
        self._styles: list[Style] = []
        self._links: list[tuple[str, str]] = []
        if UNFINISHED_TAG.search(html):  # versions of the parser differ in what they make of it
            raise ForeignError(html)
        self.feed(html)
        self.close()
        self._end()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A block begins, or a run."""
        given = {name: value or "" for name, value in attrs}
        if tag in ("ul", "ol"):
            self._end()
            self._lists.append(int(given.get("start", "1")) if tag == "ol" else -1)
            self._items.append(0)
        elif tag in ("li", "blockquote"):
            self._end()
            self._enter(tag)
        elif tag in ("p", *HEADINGS, "pre", "hr"):
            self._end()
            self._open = tag
            if tag == "hr":
                self._end()
        elif tag == "code" and self._open == "pre":
            self._open = f"code {given.get('class', '').removeprefix('language-')}".strip()
        else:
            self._inline(tag, given)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A rule, a picture, or the end of a line."""
        self.handle_starttag(tag, attrs)

    def _enter(self, tag: str) -> None:
        self._frames += "l" if tag == "li" else "q"
        if tag == "li":
            number = self._lists[-1]
            self._markers.append("•" if number < 0 else str(number))
            self._lists[-1] += number >= 0
            self._items[-1] += 1
        self._begun = len(self.blocks)

    def _inline(self, tag: str, given: dict[str, str]) -> None:
        href, title = given.get("href", ""), given.get("title", "")
        if tag == "img":
            to, words = self._links[-1] if self._links else (given.get("src", ""), title)
            self._write(given.get("alt", "") or "picture", Style.PICTURE, to, words)
        elif tag == "a" and given.keys() <= {"href", "title"}:
            self._links.append((href or "#", title))
        elif tag in STYLES and not given:
            self._styles.append(STYLES[tag])
        elif tag != "br":
            raise ForeignError(tag)

    def handle_endtag(self, tag: str) -> None:
        """A block ends, or a run."""
        if tag in ("p", *HEADINGS, "pre"):
            self._end()
        elif tag in ("li", "blockquote"):
            self._leave()
        elif tag in ("ul", "ol"):
            self._end()
            self._lists.pop()
            self._items.pop()
        elif tag == "a" and self._links:
            self._links.pop()
        elif tag in STYLES and self._styles:
            self._styles.pop()
        elif tag != "code":
            raise ForeignError(tag)

    def _leave(self) -> None:
        self._end()
        if self._begun == len(self.blocks):
            self._put("p", (), tight=None)
        self._frames = self._frames[:-1]
        self._shared = min(self._shared, len(self._frames))

    def handle_data(self, data: str) -> None:
        """Text; what stands between blocks is none."""
        if self._open or data.strip():
            href, title = self._links[-1] if self._links else ("", "")
            self._write(data, Style.PLAIN, href, title)

    def _write(self, text: str, style: Style, href: str, title: str) -> None:
        self._open = self._open or "text"
        for one in self._styles:
            style |= one
        self._runs.append(Run(text, style, href, title))

    def _end(self) -> None:
        kind, runs = self._open, joined(self._runs)
        self._open, self._runs = "", []
        if kind.startswith("code"):
            self._put(kind, joined(run._replace(text=run.text.removesuffix("\n")) for run in runs), tight=None)
        elif kind:
            self._put(kind.replace("text", "p"), without_outer_line_ends(runs), tight=kind == "text")

    def _put(self, kind: str, runs: tuple[Run, ...], *, tight: bool | None) -> None:
        above = self.blocks[-1] if self.blocks else None
        opens = self._items[:1] == [1] and len(self._markers) == len(self._lists)
        behind_code = above is not None and above.kind.startswith("code")
        told = bool(self._lists) and kind == "p" and not opens and not behind_code
        fresh = len(self._frames) - self._shared
        self._shared = len(self._frames)
        self.blocks.append(Block(self._frames, fresh, tuple(self._markers), kind, runs, tight if told else None))
        self._markers = []

    def handle_comment(self, data: str) -> None:
        """No Markdown makes one."""
        raise ForeignError(data)

    def handle_decl(self, decl: str) -> None:
        """No Markdown makes one."""
        raise ForeignError(decl)

    def handle_pi(self, data: str) -> None:
        """No Markdown makes one."""
        raise ForeignError(data)

    def unknown_decl(self, data: str) -> None:
        """No Markdown makes one."""
        raise ForeignError(data)


def without_outer_line_ends(runs: Sequence[Run]) -> tuple[Run, ...]:
    """The line end between a text and the next tag is none."""
    if not runs:
        return ()
    first, *others = runs
    inner = [first._replace(text=first.text.lstrip("\n")), *others]
    return joined([*inner[:-1], inner[-1]._replace(text=inner[-1].text.rstrip("\n"))])


def read(html: str) -> list[Block]:
    """What a browser shows of HTML that Markdown made. Raises `ForeignError`."""
    return Page(html).blocks


def same(wanted: Sequence[Block], got: Sequence[Block]) -> bool:
    """Whether these look the same, as far as ``wanted`` says."""
    return len(wanted) == len(got) and all(
        one == (other if one.tight is not None else other._replace(tight=None))
        for one, other in zip(wanted, got, strict=True)
    )
