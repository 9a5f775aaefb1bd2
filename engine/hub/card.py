"""Model cards made safe and plain: Markdown without front matter, HTML and pictures, with whole addresses.

A card is a stranger's text. What it may do in the end is decided where it is shown; here it loses what the program's
own Markdown would only show as clutter, and every step takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from engine.hub.html import Rewriter, without_html

LONGEST: Final = 200_000
"""Characters of a card that are kept."""

FRONT: Final = re.compile(r"\s{0,64}---[ \t]*\n(?P<yaml>.*?)(?:^|\n)---[ \t]*(?:\n|\Z)", re.DOTALL)
FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})")
TICKS: Final = re.compile(r"`+")
PICTURE: Final = re.compile(
    r"!\[(?P<alt>[^\[\]]{0,300})\](?:\([^()\s]{0,2000}(?:\s[^()]{0,300})?\)|\[[^\[\]]{0,100}\])",
)
LINK: Final = re.compile(
    r"\]\((?:(?P<target>[^()\s]{0,2000}(?:\([^()\s]{0,300}\)[^()\s]{0,300}){0,4})(?P<title>\s[^()]{0,300})?\))?"
)
"""A link's second half; without a target it is one that is not understood, which loses its meaning."""
EMPTY_LINK: Final = re.compile(r"\[\s{0,20}\]\([^()\s]{0,2000}\)")
DEFINITION: Final = re.compile(
    r"^(?P<head>[ \t>*+.)\d-]{0,60}\[(?:\\.|[^\[\]\\]){1,999}\]:[ \t]{0,20}(?:\n[ \t>]{0,40})?)(?P<target>\S{1,2000})",
    re.MULTILINE | re.DOTALL,
)
"""Where a link by name leads, also inside quotations and lists."""
AUTOMATIC: Final = re.compile(r"<((?P<scheme>[A-Za-z][A-Za-z0-9+.-]{1,31}):[^<>\s]{1,2000})>")
BLANK: Final = re.compile(r"\n[ \t]*\n[ \t]*\n[\s]*")

SAFE: Final = "%/:?#[]@!$&'()*+,;=~"
SCHEMES: Final = {"http", "https", "mailto"}


def plain_card(source: str, page: str, revision: str = "main") -> tuple[str, bool]:
    """The card as plain Markdown, and whether it was cut.

    Args:
        source: The text of README.md.
        page: Address of the repository, which relative links belong to.
    """
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    found = FRONT.match(text)
    text = text[found.end() :] if found else text
    cut = len(text) > LONGEST
    if cut:
        text = text[:LONGEST].rpartition("\n")[0] or text[:LONGEST]
    base = f"{page}/blob/{revision}/"
    tags = Rewriter()
    parts = [part if code else _prose(part, base, tags) for part, code in _parts(text, base)]
    return BLANK.sub("\n\n", "".join(parts)).strip(), cut


def _parts(text: str, base: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, each with whether it is code, which stays as it is."""
    prose: list[str] = []
    code: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        found = FENCE.match(line)
        if fence:
            code.append(line)
            mark = found["mark"] if found else ""
            if mark[:1] == fence[0] and len(mark) >= len(fence) and line.strip() == mark:
                yield "".join(code), True
                fence, code = "", []
        elif found and "`" not in line[found.end() :]:
            yield from _inline(_defined("".join(prose), base))
            fence, prose, code = found["mark"], [], [line]
        else:
            prose.append(line)
    yield from _inline(_defined("".join(prose), base))
    if code:
        yield "".join(code), True


def _inline(text: str) -> Iterator[tuple[str, bool]]:
    """Prose and code spans: a run of backticks ends at the next run of the same length."""
    runs = [(found.start(), found.end()) for found in TICKS.finditer(text)]
    after: dict[int, list[int]] = {}
    for index in range(len(runs) - 1, -1, -1):
        after.setdefault(runs[index][1] - runs[index][0], []).append(index)
    at, index = 0, 0
    while index < len(runs):
        start, end = runs[index]
        same = after[end - start]
        while same and same[-1] <= index:
            same.pop()
        if not same or "\n\n" in text[end : runs[same[-1]][0]]:
            index += 1
            continue
        closing = same[-1]
        yield text[at:start], False
        yield text[start : runs[closing][1]], True
        at, index = runs[closing][1], closing + 1
    yield text[at:], False


def _prose(text: str, base: str, tags: Rewriter) -> str:
    text = AUTOMATIC.sub(_address, text)
    text = without_html(text, tags)
    text = PICTURE.sub(lambda found: found["alt"].strip(), text)
    text = EMPTY_LINK.sub("", text)
    return LINK.sub(lambda found: _link(found, base), text).replace("![", "! [")


def _defined(text: str, base: str) -> str:
    return DEFINITION.sub(lambda found: found["head"] + _whole(found["target"], base), text)


def _address(found: re.Match[str]) -> str:
    return f"[{found[1]}]({found[1]})" if found["scheme"].lower() in SCHEMES else found[1]


def _link(found: re.Match[str], base: str) -> str:
    if found["target"] is None:
        return "] ("
    return f"]({_whole(found['target'], base)}{found['title'] or ''})"


def _whole(target: str, base: str) -> str:
    """The address a link leads to; what is no address of the web leads to the repository instead."""
    target = unescape(target).strip("<>")
    if target.startswith("#"):
        return target
    try:
        whole = urljoin(base, target)
        good = urlsplit(whole).scheme.lower() in SCHEMES
    except ValueError:
        return base
    return quote(whole, safe=SAFE) if good else base
