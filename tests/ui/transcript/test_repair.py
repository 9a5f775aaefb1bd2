"""What is shown while a construct is half written."""

from __future__ import annotations

import pytest

from tests.ui.transcript.samples import half_way, words
from ui.chat.transcript.blocks import Paragraph, Style, Table

CASES = [
    ("some **bold", "some bold", Style.BOLD),
    ("some **bold ", "some **bold", None),
    ("an *italic", "an italic", Style.ITALIC),
    ("a `code", "a code", Style.CODE),
    ("a ``co`de", "a co`de", Style.CODE),
    ("~~gone", "gone", Style.STRIKE),
    ("see [the page](https://exam", "see the page", None),
    ("see [the pa", "see the pa", None),
    ("a **", "a", None),
    ("a `", "a", None),
    ("2 * 3 = 6 and 4", "2 * 3 = 6 and 4", None),
    ("snake_case_name", "snake_case_name", None),
    ("`a*b` and *c", "a*b and c", Style.ITALIC),
    (r"so \(a_1 + \frac{b", r"so \(a_1 + \frac{b", Style.CODE),
    ("so $$a_1 +", "so $$a_1 +", Style.CODE),
    (r"\[a\] and **b", r"\[a\] and b", Style.BOLD),
    (r"no \\(formula", r"no \(formula", None),
    ("`$$` and *c", "$$ and c", Style.ITALIC),
    ("***both", "both", Style.BOLD | Style.ITALIC),
]


@pytest.mark.parametrize(("text", "shown", "style"), CASES)
def test_inline(text: str, shown: str, style: Style | None) -> None:
    parts = half_way(text)
    assert words(parts) == [shown]
    part = parts[0]
    assert isinstance(part, Paragraph)
    assert style is None or style in [span.style for span in part.content.spans]


@pytest.mark.parametrize("mark", ["-", "- ", "=", "---", "#", "1.", "12)", "> ", "`", "``", "*", "|", "~~"])
def test_a_line_of_marks_waits_until_it_is_something(mark: str) -> None:
    assert half_way(f"words\n{mark}") == half_way("words")


@pytest.mark.parametrize("text", ["| a | b", "| a | b |", "| a | b |\n", "| a | b |\n|--", "| a | b |\n|---|:-"])
def test_a_table_is_one_from_its_first_line(text: str) -> None:
    parts = half_way(text)
    assert [type(part) for part in parts] == [Table]
    part = parts[0]
    assert isinstance(part, Table)
    assert [cell.text for cell in part.header] == ["a", "b"]


def test_a_fence_s_own_end_is_not_shown_as_code() -> None:
    assert words(half_way("```py\nx = 1\n``")) == ["x = 1"]
    assert words(half_way("```py\nx = 1\n```")) == ["x = 1"]


def test_no_character_of_plain_words_is_held_back() -> None:
    text = "Plain words, one after the other. And a second sentence\nin a second line"
    for end in range(1, len(text)):
        assert "".join(words(half_way(text[:end]))).rstrip() == text[:end].rstrip()
