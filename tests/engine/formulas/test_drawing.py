"""LaTeX to outlines."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.formulas.drawing import LONGEST, draw
from engine.formulas.records import INK, FormulaError

WORDS = r"\frac \sqrt \sum \left( \right) { } _ ^ & \\ x 1 $ < é 漢 😀 % # \text{ \color{red}"
ENVIRONMENTS = r"\begin{cases} \end{cases} \begin{aligned} \end{aligned}"
PIECES = st.sampled_from([*WORDS.split(" "), *ENVIRONMENTS.split(" "), " "])


@pytest.mark.parametrize(
    "latex",
    [
        "x",
        r"\frac{-b \pm \sqrt{b^2-4ac}}{2a}",
        r"\sum_{i=0}^{n} x_i",
        r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
        r"f(x) = \begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}",
        r"\begin{align} a &= b \\ &= c \end{align}",
        r"\operatorname{softmax}(z)_i",
        r"\mathbb{R} \to \mathcal{L}",
    ],
)
def test_what_models_write_is_drawn(latex: str) -> None:
    drawing = draw(latex, display=True)
    assert drawing.width > 0.3
    assert drawing.ascent + drawing.descent > 0.3
    assert INK in drawing.svg


def test_the_base_line_is_that_of_the_letters() -> None:
    flat, hanging = draw("x", display=False), draw("y", display=False)
    assert flat.descent < 0.1 < hanging.descent
    assert draw(r"\frac{a}{b}", display=True).descent > 0.5


def test_display_style_is_larger() -> None:
    small, large = (draw(r"\sum_{i=0}^{n} \frac{a}{b}", display=display) for display in (False, True))
    assert large.ascent + large.descent > 1.3 * (small.ascent + small.descent)


def test_lines_of_an_alignment_have_room_and_no_numbers() -> None:
    one, two = (
        draw(r"\begin{align*}a&=b\end{align*}", display=True),
        draw(r"\begin{align}a&=b\\&=c\end{align}", display=True),
    )
    assert two.ascent + two.descent - one.ascent - one.descent > 1.2
    assert abs(two.width - one.width) < 0.3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        r"\frac{a",
        r"\begin{foo}",
        "a_",
        r"\left( x",
        "x & y",
        "{" * 1500,
        r"\text{<b>}",
        "x" * (LONGEST + 1),
    ],
)
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(FormulaError):
        draw(text, display=True)


@pytest.mark.parametrize(
    "group", [r"1+\frac{1}{2+|}", r"\left(|\right)", r"\sqrt{|}", r"\begin{matrix}|\end{matrix}", "{|}"]
)
def test_groups_in_groups_are_drawn_as_long_as_that_takes_no_minutes(group: str) -> None:
    opening, closing = group.split("|")
    assert draw(opening * 5 + "x" + closing * 5, display=True).width > 0
    with pytest.raises(FormulaError, match="nested"):
        draw(opening * 50 + "x" + closing * 50, display=True)


@pytest.mark.parametrize(
    "text", [r"\text{<image href='file:///etc/passwd'/>}", r"\href{http://a.example}{x}", r"\includegraphics{a}"]
)
def test_a_drawing_names_no_file_and_no_address(text: str) -> None:
    try:
        svg = draw(text, display=True).svg
    except FormulaError:
        return
    assert set(re.findall(r"<(\w+)", svg)) <= {"svg", "path", "rect"}
    assert "href" not in svg


@settings(max_examples=60, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join), st.booleans())
def test_any_text_is_drawn_or_refused(text: str, display: bool) -> None:
    try:
        drawing = draw(text, display=display)
    except FormulaError:
        return
    assert drawing.width > 0
