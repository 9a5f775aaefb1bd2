"""The small parts that all else stands on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ui.chat.transcript.code_rows import CodeRows, columns_of
from ui.chat.transcript.heights import Heights
from ui.chat.transcript.inline import with_bare_links
from ui.chat.transcript.qt_text import (
    LEFT_TO_RIGHT_MARK,
    MarkedUnits,
    Units,
    copiable,
    displayable,
    is_right_to_left,
    runs_to_isolate,
    with_marks,
)

SIZES = st.lists(st.integers(0, 50), min_size=1, max_size=30)


@given(SIZES, st.lists(st.tuples(st.integers(0, 29), st.integers(0, 50), st.integers(0, 30)), max_size=10))
def test_heights_are_sums(sizes: list[int], changes: list[tuple[int, int, int]]) -> None:
    heights = Heights(sizes)
    for index, size, asked in changes:
        if index < len(sizes):
            sizes[index] = size
            heights.set(index, size)
        if asked <= len(sizes):
            assert heights.top(asked) == sum(sizes[:asked])
    assert heights.total == sum(sizes)


@given(SIZES, st.integers(0, 29), st.integers(0, 29), SIZES)
def test_heights_can_be_replaced(sizes: list[int], start: int, stop: int, new: list[int]) -> None:
    heights = Heights(sizes)
    assert heights.total == sum(sizes)
    start, stop = sorted((min(start, len(sizes)), min(stop, len(sizes))))
    heights.replace(start, stop, new)
    sizes[start:stop] = new
    assert [heights.top(i) for i in range(len(sizes) + 1)] == [sum(sizes[:i]) for i in range(len(sizes) + 1)]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30), st.integers(-20, 1600))
def test_heights_find(sizes: list[int], y: int) -> None:
    heights = Heights(sizes)
    found = heights.find(y)
    assert y < 0 or heights.top(found) <= y
    assert found == len(sizes) - 1 or heights.top(found + 1) > y


@given(st.text(max_size=60), st.integers(0, 60))
def test_positions_in_utf_16(text: str, position: int) -> None:
    text = copiable(text)
    position = min(position, len(text))
    units = Units(text)
    assert units.to_qt(position) == len(text[:position].encode("utf-16-le")) // 2
    assert units.from_qt(units.to_qt(position)) == position


@given(st.text(alphabet=st.characters(), max_size=60))
def test_what_is_shown_has_as_many_characters(text: str) -> None:
    shown = displayable(text)
    assert len(shown) == len(text)
    shown.encode("utf-8")
    copiable(text).encode("utf-8")


LINES = st.text(alphabet="ab\t \n日é\u0301😀", max_size=80)


@given(st.lists(LINES, max_size=6), st.one_of(st.none(), st.integers(8, 20)))
def test_rows_of_growing_code(portions: list[str], columns: int | None) -> None:
    growing, code = CodeRows(columns), ""
    growing.set_code(code)
    for portion in portions:
        code += portion
        before = list(growing.rows)
        first = growing.set_code(code)
        assert growing.rows[:first] == before[:first]
    whole = CodeRows(columns)
    whole.set_code(code)
    assert growing.rows == whole.rows
    assert growing.widest == whole.widest
    lines = code.split("\n")
    for number, line in enumerate(lines):
        assert "".join(code[row.start : row.end] for row in whole.rows if row.line == number) == line
    assert all(columns_of(code[row.start : row.end]) <= (columns or 1000) for row in whole.rows)
    assert all(whole.index_of(row.start) == number for number, row in enumerate(whole.rows))


def test_bare_links_end_before_the_sentence_does() -> None:
    text = "See https://a.example/x_(y), www.b.example. or (http://c.example/?q=1)! not ahttp://d"
    links = [(shown, href) for shown, href in with_bare_links(text) if href]
    assert links == [
        ("https://a.example/x_(y)", "https://a.example/x_(y)"),
        ("www.b.example", "https://www.b.example"),
        ("http://c.example/?q=1", "http://c.example/?q=1"),
    ]
    assert "".join(shown for shown, _ in with_bare_links(text)) == text


def test_direction_of_a_paragraph() -> None:
    assert is_right_to_left("«שלום» hello")
    assert not is_right_to_left("1. hello שלום")
    assert not is_right_to_left("123 …")


@given(st.text(alphabet='ab שלם"=#😀', max_size=40))
def test_marks_in_code_move_no_position(text: str) -> None:
    marks = runs_to_isolate(text)
    units, shown = MarkedUnits(text, marks), with_marks(text, marks)
    assert shown.replace(LEFT_TO_RIGHT_MARK, "") == text
    for position in range(len(text) + 1):
        assert units.from_qt(units.to_qt(position)) == position
        before = shown.encode("utf-16-le")[: 2 * units.to_qt(position)].decode("utf-16-le")
        assert before.replace(LEFT_TO_RIGHT_MARK, "") == text[:position]


def test_words_of_one_phrase_stay_together() -> None:
    assert runs_to_isolate('name = "שלום עולם"  # מרחק') == [17, 26]
