r"""Where formulas stand in Markdown: ``$a$``, ``$$a$$``, ``\(a\)``, ``\[a\]``, and environments of amsmath.

A dollar sign that touches a space on the inside or a digit on the outside is money, not mathematics; so is one beside a
letter, or before a number that words follow.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin

INLINE = ("math_inline", "math_inline_double")
BLOCK = ("math_block", "amsmath")
_CLOSERS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$", "$": "$"}
_OPENED = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*[\s>]*(\$\$|\\\[)")
_PRICE = re.compile(r"\d[\d.,]*[,;:]? [^\\=+*/^_<>{}()]*")
_INTERRUPTS = {"alt": ["paragraph", "reference", "blockquote", "list"]}


def add_math(parser: MarkdownIt) -> None:
    """Teach ``parser`` the tokens `INLINE` and `BLOCK`; ``markup`` of the first is the opening delimiter."""
    parser.use(
        dollarmath_plugin,
        allow_labels=False,
        allow_space=False,
        allow_digits=False,
        allow_blank_lines=False,
        double_inline=True,
    )
    parser.use(amsmath_plugin)
    parser.inline.ruler.before("escape", "bracket_math", _inline)
    parser.inline.ruler.before("math_inline", "money", _money)
    parser.block.ruler.at("math_block", _block, _INTERRUPTS)  # type: ignore[arg-type]


def written(latex: str, opener: str) -> str:
    """A formula with its delimiters, in one line."""
    return opener + latex.replace("\n", " ") + _CLOSERS[opener]


def latex_of(source: str) -> tuple[str, bool]:
    """What stands between the delimiters of ``source``, and whether it is in display style; the text itself if none."""
    for opener, closer in _CLOSERS.items():
        if source.startswith(opener) and source.endswith(closer) and len(source) > len(opener + closer):
            return source[len(opener) : -len(closer)].strip(), opener in ("$$", "\\[")
    return source, True


def open_line(source: str) -> int | None:
    """Number of the line where a formula of several lines begins whose end is not there yet; no blank line follows it.

    Until it comes, what stands in the formula looks like other blocks, and then it is none of them.
    """
    lines = source.split("\n")
    if lines[-1] == "":
        lines.pop()
    start = max((number + 1 for number, line in enumerate(lines) if not line.strip()), default=0)
    while start < len(lines):
        opened = _OPENED.match(lines[start])
        closer = _CLOSERS[opened[1]] if opened else ""
        if opened and closer not in lines[start][opened.end() :]:
            ends = (n for n in range(start + 1, len(lines)) if lines[n].rstrip().endswith(closer))
            end = next(ends, None)
            if end is None:
                return start
            between = [lines[start][opened.end() :], *lines[start + 1 : end], lines[end].rstrip()[:-2]]
            if _says_something("".join(between)):  # else the end is the beginning of another one
                start = end
        start += 1
    return None


def _money(state: StateInline, silent: bool) -> bool:
    """Take a dollar sign for text that stands at a price or a name: ``$12, 100$``, ``$HOME/$USER``, ``a$b``."""
    at, text = state.pos, state.src
    if text[at] != "$" or "$" in (text[at - 1 : at], text[at + 1 : at + 2]):
        return False
    before, end = text[at - 1 : at], text.find("$", at + 1, state.posMax)
    behind = text[end + 1 : end + 2]
    if not (_is_word(before) or (end > 0 and (_is_word(behind) or _PRICE.fullmatch(text, at + 1, end)))):
        return False
    if not silent:
        state.pending += "$"
    state.pos = at + 1
    return True


def _is_word(letter: str) -> bool:
    """Letters of other scripts touch formulas: they are written without spaces."""
    return letter.isascii() and letter.isalnum()


def _says_something(latex: str) -> bool:
    """Whether there is more than marks that stand escaped side by side."""
    return bool(latex.strip(" \t\n\\"))


def _inline(state: StateInline, silent: bool) -> bool:
    opener = state.src[state.pos : state.pos + 2]
    if opener not in ("\\(", "\\["):
        return False
    end = state.src.find(_CLOSERS[opener], state.pos + 2, state.posMax)
    if end < 0 or not _says_something(state.src[state.pos + 2 : end]):
        return False
    if not silent:
        token = state.push(INLINE[opener == "\\["], "math", 0)
        token.content = state.src[state.pos + 2 : end]
        token.markup = opener
    state.pos = end + 2
    return True


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.bMarks[start] + state.tShift[start]
    opener = state.src[first : first + 2]
    if state.is_code_block(start) or opener not in ("$$", "\\["):
        return False
    line = _last_line(state, start, end, _CLOSERS[opener])
    if line is None:
        return False
    last = state.bMarks[line] + state.tShift[line] + len(_line(state, line))
    if not _says_something(state.src[first + 2 : last - 2]):
        return False
    if silent:
        return True
    token = state.push("math_block", "math", 0)
    token.block, token.markup, token.map = True, opener, [start, line + 1]
    token.content = state.src[first + 2 : last - 2]
    state.line = line + 1
    return True


def _last_line(state: StateBlock, start: int, end: int, closer: str) -> int | None:
    """The line that ends with ``closer``; None when there is none before the block or the paragraph ends."""
    opened = _line(state, start)[2:]
    if closer in opened:
        return start if opened.endswith(closer) and opened.index(closer) == len(opened) - 2 > 0 else None
    for line in range(start + 1, end):
        if state.isEmpty(line) or state.sCount[line] < state.blkIndent:
            return None
        if _line(state, line).endswith(closer):
            return line
    return None


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].rstrip()
