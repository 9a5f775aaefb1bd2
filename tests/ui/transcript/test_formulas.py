"""Formulas and footnotes in messages."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QImage, QPainter
from pytestqt.qtbot import QtBot

from app.formulas.service import FormulaService
from tests.app.chat.cranked import Cranked
from tests.ui.transcript.samples import answer, model_of, parts_of, streamed
from ui.chat.transcript.blocks import Formula, Paragraph, Style, Table
from ui.chat.transcript.formula_view import FormulaView
from ui.chat.transcript.formulas import Formulas
from ui.chat.transcript.look import Look
from ui.chat.transcript.math_rules import latex_of
from ui.chat.transcript.text_view import TextView
from ui.chat.transcript.view import TranscriptView
from ui.theme import Theme


def formulas_in(text: str) -> list[str]:
    """The formulas of a text, with their delimiters."""
    found = []
    for part in parts_of(text):
        if isinstance(part, Formula):
            found.append(part.source)
        elif isinstance(part, Paragraph):
            spans = [span for span in part.content.spans if span.style & Style.MATH]
            found += [part.content.text[span.start : span.start + span.length] for span in spans]
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so $a$, $b_1$.", ["$a$", "$b_1$"]),
        (r"so \(a^2\) is", [r"\(a^2\)"]),
        ("in a line $$x$$ here", ["$$x$$"]),
        (r"in a line \[x\] here", [r"\[x\]"]),
        ("$$\nx\n$$", ["$$\nx\n$$"]),
        ("above\n$$\nx\n$$\nbelow", ["$$\nx\n$$"]),
        ("above\n\\[\nx\n\\]\nbelow", ["\\[\nx\n\\]"]),
        ("\\[ x \\]", ["\\[\nx\n\\]"]),
        ("- item\n\n  \\[\n  x\n  \\]", ["\\[\nx\n\\]"]),
        ("\\begin{align}\na &= b\n\\end{align}", ["\\begin{align}\na &= b\n\\end{align}"]),
        ("$a *b* c$", ["$a *b* c$"]),
        ("it costs $5 and $10", []),
        ("$$a$$ and $$b$$", ["$$a$$", "$$b$$"]),
        ("$$a$$ and more\n$$", ["$$a$$"]),
        ("$ x $", []),
        (r"\$a\$", []),
        ("`$a$`", []),
        ("```\n$$\nx\n$$\n```", []),
        (r"an \( that is open", []),
        ("\\[\n\nx", []),
        (r"\(\)", []),
        (r"\[\\\]", []),
        ("其中$x$是", ["$x$"]),
        ("a $2 + 3$ and $5 \\times 3$ b", ["$2 + 3$", "$5 \\times 3$"]),
        ("$5 or 10$ more", []),
        ("pay US$x$ now", []),
        ("($n$), $n$-th, **$n$**", ["$n$", "$n$", "$n$"]),
    ],
)
def test_what_is_a_formula(text: str, expected: list[str]) -> None:
    assert formulas_in(text) == expected


def test_case_41_money_is_no_formula() -> None:
    text = "Price: $7 or $12, 100$ - US$3. **$3.20** vs $x_1 + y$ and $$a^2$$; path $HOME/$USER; `echo $A $B`"
    assert formulas_in(text) == ["$x_1 + y$", "$$a^2$$"]


def test_blocks_around_a_formula_are_kept() -> None:
    kinds = [type(part).__name__ for part in parts_of("above\n\\[\nx\n\\]\nbelow")]
    assert kinds == ["Paragraph", "Formula", "Paragraph"]


@pytest.mark.parametrize("step", [1, 7])
def test_a_streamed_formula_ends_like_one_that_came_whole(step: int) -> None:
    text = "above $a_1$\n\n$$\n\\frac{a}{b}\n$$\n\n\\[\nx\n\\]\n\nand one[^1]\n\n[^1]: note $n$\n\nend"
    assert streamed(text, step=step) == parts_of(text)


@pytest.mark.parametrize(
    ("source", "latex", "display"),
    [("$a$", "a", False), ("$$a$$", "a", True), (r"\(a\)", "a", False), (r"\[ a \]", "a", True), ("a", "a", True)],
)
def test_delimiters_come_off(source: str, latex: str, display: bool) -> None:
    assert latex_of(source) == (latex, display)


def test_footnotes_are_raised_marks_and_items() -> None:
    text, first, second = parts_of("one[^1] and[^x]\n\n[^1]: The *first*.\n[^x]: The second.")
    assert isinstance(text, Paragraph)
    assert text.content.text == "one[1] and[^x]"
    assert [span.style for span in text.content.spans] == [Style.RAISED]
    assert (first.marker, second.marker) == ("1.", "x.")
    assert isinstance(first, Paragraph)
    assert first.content.text == "The first."


# What is seen.


@pytest.fixture
def executor() -> Cranked:
    return Cranked()


@pytest.fixture
def service(qapp: object, executor: Cranked) -> FormulaService:
    return FormulaService(executor)


@pytest.fixture
def look(theme: Theme, service: FormulaService) -> Look:
    return Look(theme, Formulas(service))


def view_of(text: str, look: Look, width: float = 600.0) -> TextView:
    (part,) = parts_of(text)
    assert isinstance(part, Paragraph)
    return TextView(look, look.plain, width, part.content, level=part.level)


def drawn(text: str, look: Look, executor: Cranked, width: float = 600.0) -> TextView:
    view_of(text, look, width)
    executor.drain()
    return view_of(text, look, width)


def inked(view: TextView | FormulaView) -> set[int]:
    """Columns of pixels with something on them."""
    image = QImage(int(view.width) + 1, int(view.height) + 1, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    view.paint(painter, image.rect().toRectF(), None)
    painter.end()
    white = QColor("white").rgb()
    return {x for x in range(image.width()) if any(image.pixel(x, y) != white for y in range(image.height()))}


def test_until_it_is_drawn_the_source_is_shown(look: Look, executor: Cranked) -> None:
    before = view_of("so $a_1$ it is", look)
    assert before.waits
    executor.drain()
    after = view_of("so $a_1$ it is", look)
    assert not after.waits
    assert after.natural_width < before.natural_width


def test_a_formula_is_drawn_where_its_place_is(look: Look, executor: Cranked) -> None:
    view = drawn(r"$\frac{abc}{def}$ $\frac{abc}{def}$", look, executor)
    second = int(view.caret(view.length - 1).left())
    columns = inked(view)
    assert min(columns) < look.em / 2
    assert {x for x in columns if x > second - 2 * look.em}, "the second one too"
    assert max(columns) <= view.natural_width + 1


def test_a_tall_formula_has_a_taller_line(look: Look, executor: Cranked) -> None:
    plain, tall = view_of("words", look), drawn(r"words $\displaystyle\frac{\frac{a}{b}}{\frac{c}{d}}$", look, executor)
    assert tall.height > plain.height + look.em / 2


def test_a_formula_wider_than_the_column_becomes_smaller(look: Look, executor: Cranked) -> None:
    view = drawn("$" + "a+" * 60 + "b$", look, executor, width=200.0)
    assert max(inked(view)) <= 201


def test_positions_before_and_behind_a_formula_are_those_of_the_text(look: Look, executor: Cranked) -> None:
    view = drawn("ab $x^2$ cd", look, executor)
    for position in (0, 1, 2, 3, 8, 9, 10, 11):
        box = view.caret(position)
        assert view.position_at(QPointF(box.left() + 0.5, box.center().y())) == position


def test_what_is_no_formula_stays_as_it_was_written(look: Look, executor: Cranked) -> None:
    view = drawn(r"so $\frac{a$ it is", look, executor)
    assert not view.waits
    assert view.natural_width > look.em * 5


def make_view(qtbot: QtBot, theme: Theme, service: FormulaService, text: str) -> TranscriptView:
    model = model_of([answer(text)])
    view = TranscriptView(model, theme, formulas=service)
    view.model = model  # type: ignore[attr-defined]  # keeps it alive
    qtbot.addWidget(view)
    view.resize(900, 600)
    view.show()
    view.refresh()
    return view


def test_a_block_and_a_table_change_to_drawings_when_they_come(qtbot, theme, service, executor) -> None:
    text = "$$\n\\frac{a}{b}\n$$\n\n|a|b|\n|-|-|\n|area|$\\frac{\\pi r^2}{1}$|\n"
    view = make_view(qtbot, theme, service, text)
    message = view.content.message(0)
    widths = [part.natural_width for part in (message.view(1), message.view(2))]
    assert all(message.view(section).waits for section in (1, 2))
    executor.drain()
    qtbot.waitUntil(lambda: isinstance(message.view(1), FormulaView))
    assert not message.view(2).waits
    assert message.view(2).natural_width < widths[1]
    assert isinstance(message.part(2), Table)


def test_copying_gives_latex(qtbot, theme, service, executor) -> None:
    view = make_view(qtbot, theme, service, "so $a_1$ is\n\n$$\nx\n$$")
    executor.drain()
    view.actions_of.select_all()
    assert view.selected_text() == "so $a_1$ is\n\n$$\nx\n$$"


def test_a_wide_block_scrolls_sideways(qtbot, theme, service, executor) -> None:
    view = make_view(qtbot, theme, service, "$$\n" + "a+" * 120 + "b\n$$")
    executor.drain()
    message = view.content.message(0)
    qtbot.waitUntil(lambda: isinstance(message.view(1), FormulaView))
    formula = message.view(1)
    assert isinstance(formula, FormulaView)
    assert formula.overflow() > 0
    assert formula.scroll_to(50.0)
    assert not formula.bar().isEmpty()
