"""What is written of an answer, with a clock that stands still."""

from __future__ import annotations

import io
import sys

import pytest

from app.chat.screen import LATE, Screen
from engine.protocol.frames import Delta, Progress


class Paper(io.StringIO):
    def isatty(self) -> bool:
        return True


def read(done: int) -> Progress:
    return Progress(id=1, stage="prompt", done=done, total=4000)


def test_a_long_prompt_is_told_late_and_wiped(monkeypatch: pytest.MonkeyPatch) -> None:
    paper, now = Paper(), [0.0]
    monkeypatch.setattr(sys, "stderr", paper)
    monkeypatch.setattr(sys, "stdout", Paper())
    screen = Screen(shown=True, clock=lambda: now[0])
    screen.prompt(read(512))
    assert paper.getvalue() == ""
    now[0] = LATE + 0.1
    screen.prompt(read(1024))
    assert "Reading 1024 of 4000 tokens" in paper.getvalue()
    screen.prompt(read(4000))
    assert "4000 of" not in paper.getvalue()
    screen.show(Delta(id=1, text="Well"))
    assert paper.getvalue().endswith("\r\033[K")
    written = len(paper.getvalue())
    screen.close()
    assert len(paper.getvalue()) == written


def test_without_a_terminal_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    paper, out, now = io.StringIO(), io.StringIO(), [0.0]
    monkeypatch.setattr(sys, "stderr", paper)
    monkeypatch.setattr(sys, "stdout", out)
    screen = Screen(shown=True, clock=lambda: now[0])
    now[0] = 9.0
    screen.prompt(read(1024))
    screen.show(Delta(id=1, text="red\x1b[31m", thinking="hm"))
    screen.close()
    assert (paper.getvalue(), out.getvalue()) == ("", "red\x1b[31m"), "a file gets the text as it is"
