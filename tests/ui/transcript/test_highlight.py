"""Colours of code: readable, complete, and the same however the code arrived."""

from __future__ import annotations

import pytest
from pygments.token import Comment, Keyword, Name, Number, String

from ui.chat.transcript.budget import never
from ui.chat.transcript.highlight import LONGEST_LINE, Highlighter, colour_of
from ui.chat.transcript.look import TOKEN_COLOURS
from ui.theme import DARK, LIGHT, Tokens, contrast

PYTHON = '''import os

@decorated
def name(a: int, b="text") -> str:
    """A sentence
    over two lines."""
    return f"{a} {os.path}"  # note

class Thing:
    limit = 0x10
'''


def coloured(code: str, language: str = "python") -> Highlighter:
    """All colours of ``code``."""
    result = Highlighter(language)
    result.set_code(code)
    result.advance(never)
    return result


def runs(highlighter: Highlighter, code: str) -> list[tuple[tuple[int, int, int], ...]]:
    return [highlighter.runs(line) for line in range(code.count("\n") + 1)]


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("name", TOKEN_COLOURS)
def test_each_colour_can_be_read_on_each_ground(tokens: Tokens, name: str) -> None:
    for ground in (tokens.raised, tokens.surface):
        assert contrast(getattr(tokens, name), ground) >= 4.5


def test_kinds_of_token_differ() -> None:
    kinds = [Comment.Single, String.Double, Number.Integer, Keyword.Namespace, Name.Function]
    assert len({colour_of(kind) for kind in kinds}) == len(kinds)
    assert 0 not in {colour_of(kind) for kind in kinds}


def test_a_string_over_lines_is_coloured_on_each() -> None:
    highlighter = coloured(PYTHON)
    assert highlighter.done
    string = colour_of(String.Doc)
    assert highlighter.runs(4) == ((4, 13, string),)
    assert highlighter.runs(5) == ((0, 22, string),)


@pytest.mark.parametrize("language", ["python", "c++", "bash", "json", "html", "diff", "js", "yaml"])
def test_code_that_grows_gets_the_colours_of_the_whole(language: str) -> None:
    code = PYTHON * 6
    growing = Highlighter(language)
    for end in range(0, len(code) + 1, 17):
        growing.set_code(code[:end])
        growing.advance(never)
    growing.set_code(code)
    growing.advance(never)
    assert runs(growing, code) == runs(coloured(code, language), code)


def test_only_the_end_is_read_again() -> None:
    code = "def f(a):\n    return a\n\n" * 400
    growing = coloured(code)
    first, _ = _change(growing, code + "x = 1\n")
    assert first >= 1200
    seen = growing._checkpoint[0]
    assert seen > 1100


def _change(highlighter: Highlighter, code: str) -> tuple[int, int]:
    highlighter.set_code(code)
    changed = highlighter.advance(never)
    assert changed is not None
    return changed


def test_work_is_done_in_portions() -> None:
    code = PYTHON * 200
    highlighter = Highlighter("python")
    highlighter.set_code(code)
    rounds = 0
    while not highlighter.done:
        highlighter.advance(lambda: True)
        rounds += 1
    assert rounds > 20
    assert runs(highlighter, code) == runs(coloured(code), code)


@pytest.mark.parametrize("language", ["", "text", "no-such-language"])
def test_unknown_languages_stay_plain(language: str) -> None:
    highlighter = coloured(PYTHON, language)
    assert highlighter.done
    assert not any(runs(highlighter, PYTHON))


def test_a_very_long_line_stays_plain() -> None:
    assert not any(runs(coloured("x = 1\n" + "1" * (LONGEST_LINE + 1)), "\n"))
