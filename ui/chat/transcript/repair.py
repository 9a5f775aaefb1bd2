"""Makes the half-written end of an answer presentable while it streams: what is shown, never what is kept."""

from __future__ import annotations

import re

_ONLY_MARKS = re.compile(r"[ \t]*(?:[-=+*_#>`~|: \t]+|\d{1,9}[.)])[ \t]*")
_BACKTICKS = re.compile(r"`+")
_OPEN_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\s]*|\([^()\n]*)$")
_OPEN_LABEL = re.compile(r"!?\[([^\[\]\n]*)$")
_MARKS = re.compile(r"(?<!\\)(\*{1,3}|_{1,3}|~~)")
_FORMULA_MARKS = re.compile(r"\\[\\()\[\]]|\$\$")
_CLOSERS = {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}
_TRAILING_MARKS = re.compile(r"(?:\*{1,3}|_{1,3}|~{1,2}|`+)$")
_ROW_START = re.compile(r"[ \t]*\|")
_DELIMITER_PART = re.compile(r"[ \t]*\|?[-:| \t]*")


def presentable(source: str) -> str:
    """``source``, the unfinished end of a text, with open constructs closed and bare marks at its end left out.

    A line of marks alone may become a list, a rule, a heading of the line above or a fence: it is held back until it is
    one. Emphasis, code and links that have begun are shown as what they are about to be.
    """
    head, _, line = source.rpartition("\n")
    if line and _ONLY_MARKS.fullmatch(line) and not _is_table_delimiter(head, line):
        return head
    table = _provisional_table(source)
    if table is not None:
        return table
    start = _last_paragraph(source)
    return source[:start] + _close_inline(source[start:])


def _last_paragraph(source: str) -> int:
    blank = source.rfind("\n\n")
    return 0 if blank < 0 else blank + 2


def _is_table_delimiter(head: str, line: str) -> bool:
    above = head.rpartition("\n")[2]
    return bool(_ROW_START.match(above)) and bool(_DELIMITER_PART.fullmatch(line)) and "-" in line


def _provisional_table(source: str) -> str | None:
    """A table whose second line is not there yet, shown as the table that it is about to be."""
    start = _last_paragraph(source)
    head, lines = source[:start], source[start:].split("\n")
    if len(lines) > 2 or not _ROW_START.match(lines[0]) or lines[0].count("|") < 2:
        return None
    if len(lines) == 2 and lines[1] and not _DELIMITER_PART.fullmatch(lines[1]):
        return None
    row = lines[0] if lines[0].rstrip().endswith("|") else lines[0] + " |"
    columns = len(re.findall(r"(?<!\\)\|", row.strip())) - 1
    return f"{head}{row}\n|{'---|' * columns}"


def _close_inline(text: str) -> str:
    start = _open_formula(text)
    if start is not None:
        formula = text[start:].rstrip()
        quoted = formula.endswith("`") or "`" in formula
        return _close_inline(text[:start]) + (formula if quoted else f"`{formula}`")
    text = _close_code(text)
    if text.endswith("`"):
        return text
    link = _OPEN_LINK.search(text) or _OPEN_LABEL.search(text)
    if link and link.group(1):
        text = text[: link.start()] + link.group(1)
    return text + _missing_marks(text)


def _close_code(text: str) -> str:
    """Close the code span that is open at the end; a run of back-ticks with nothing behind it is held back."""
    trailing = _TRAILING_MARKS.search(text)
    open_run = ""
    for run in _BACKTICKS.finditer(text):
        if not open_run:
            open_run = run.group()
        elif run.group() == open_run:
            open_run = ""
    if not open_run:
        return text[: trailing.start()] if trailing and _opens_nothing(text, trailing.group()) else text
    if text.endswith(open_run):
        return text[: -len(open_run)]
    return text + open_run


def _open_formula(text: str) -> int | None:
    """Where the formula begins that is open at the end of ``text``: it is shown as code until it can be drawn."""
    plain = re.sub(r"(`+)(?:.*?)\1", lambda m: "x" * len(m.group()), text, flags=re.DOTALL)
    start, closer = None, ""
    for match in _FORMULA_MARKS.finditer(plain):
        mark = match.group()
        if start is None and mark in _CLOSERS:
            start, closer = match.start(), _CLOSERS[mark]
        elif start is not None and mark == closer:
            start = None
    return start


def _opens_nothing(text: str, marks: str) -> bool:
    """Whether ``marks`` at the end would begin something that has no content yet."""
    before = text[: -len(marks)]
    return not marks.startswith("`") and (not before or before[-1].isspace() or before[-1] in "([*_")


def _missing_marks(text: str) -> str:
    """The closing marks for emphasis that was opened and not closed in ``text``."""
    plain = re.sub(r"(`+)(?:.*?)\1", lambda m: "x" * len(m.group()), text, flags=re.DOTALL)
    opened: list[str] = []
    for match in _MARKS.finditer(plain):
        mark, before, after = match.group(), plain[: match.start()][-1:], plain[match.end() :][:1]
        if opened and opened[-1] == mark and before and not before.isspace():
            opened.pop()
        elif after and not after.isspace() and not (mark[0] == "_" and before.isalnum()):
            opened.append(mark)
    if not opened:
        return ""
    if text[-1:].isspace():
        return ""
    return "".join(reversed(opened))
