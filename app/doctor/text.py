"""A diagnosis for a terminal, and as a block to paste into a report."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

from engine.doctor.diagnosis import summary
from engine.doctor.records import Check, Diagnosis, Status

LABELS = {Status.FAIL: "FAIL", Status.WARN: "warn", Status.OK: "ok"}
WIDEST = 110
INDENT = " " * 6


def table(diagnosis: Diagnosis, width: int | None = None) -> str:
    """Aligned lines, worst first, with one sentence at the end. The lines to copy are never wrapped."""
    width = min(width or shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)
    titles = [*(check.title for check in diagnosis.checks), *(left.title for left in diagnosis.left_out)]
    names = max(map(len, titles), default=0)
    lines = []
    for check in diagnosis.checks:
        lines += _entry(LABELS[check.status], check.title, names, check.found, width)
        lines += _help(check, names, width)
    for left in diagnosis.left_out:
        lines += _entry("-", left.title, names, left.reason, width)
    return "\n".join([*lines, "", summary(diagnosis)])


def _entry(label: str, title: str, names: int, text: str, width: int) -> list[str]:
    return _wrapped(f"{label:<{len(INDENT)}}{title:<{names}}  ", text, names, width)


def _help(check: Check, names: int, width: int) -> list[str]:
    margin = INDENT + " " * (names + 2)
    lines = _wrapped(margin, check.advice, names, width) if check.advice else []
    if check.fix:
        lines.append(f"{margin}$ {check.fix}")
    if check.survives is not None:
        words = "This survives" if check.survives else "This does not survive"
        lines += _wrapped(margin, f"({words} an update of SteamOS.)", names, width)
    return lines


def _wrapped(head: str, text: str, names: int, width: int) -> list[str]:
    margin = INDENT + " " * (names + 2)
    room = max(width, len(margin) + 30)
    return textwrap.wrap(
        text, room, initial_indent=head, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
    ) or [head.rstrip()]


def markdown(diagnosis: Diagnosis, version: str) -> str:
    """A block for an issue: what was found, without advice."""
    rows = [(LABELS[check.status], check.id, check.found) for check in diagnosis.checks]
    rows += [("-", left.id, left.reason) for left in diagnosis.left_out]
    return "\n".join(
        [
            f"### vramble doctor ({version})",
            "",
            "| | check | found |",
            "| --- | --- | --- |",
            *(_row(row) for row in rows),
            "",
            summary(diagnosis),
        ]
    )


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(text: str) -> str:
    """Nothing in a cell may end it or be taken for markup."""
    return "".join("\\" + sign if sign in "\\|`*_<>[]" else sign for sign in text)


def diagnosis_summary(diagnosis: Diagnosis) -> str:
    """The diagnosis in one sentence."""
    return summary(diagnosis)
