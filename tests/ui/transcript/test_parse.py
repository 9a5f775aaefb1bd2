"""Markdown to parts: exact, harmless, and the same however the text arrived."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ui.transcript.samples import half_way, parts_of, streamed, words
from ui.chat.transcript.blocks import Code, Paragraph, Part, Rule, Span, Style, Table, plain_text
from ui.chat.transcript.cutting import MAX_PARAGRAPH
from ui.chat.transcript.parse import Limits, MarkdownStream
from ui.chat.transcript.plain import plain_parts
from ui.chat.transcript.tokens import Builder, make_parser

PIECES = [
    "# head\n", "para ", "**bold** ", "\n", "\n\n", "- item\n", "  - sub\n", "1. one\n", "2. two\n", "1) z\n",
    "```py\ncode\n\nx\n```\n", "~~~\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "| 3 | 4 |\n", "> quote\n",
    "    indented\n", "[foo]", "[foo]: /url\n", "`x`", "*", "text\n", "   ", "\t", "```", "- [x] done\n", "<b>",
    "> ```\n> q\n> ```\n", "[a](http", "![p](q)", "~~s~~", "😀", "שלום ", "http://x.y/z ", "---\n", "===\n", "#",
    "a\n-\n", "+ plus\n", "<tool_call>\n", "{}\n", "</tool_call>\n", "<tool_call>{}</tool_call>",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)
SMALL = Limits(window=16, block=1 << 20, row=1 << 20)
TINY = Limits(window=8, block=48, row=96)


def in_one_go(text: str) -> list[Part]:
    """What markdown-it gives for the whole text at once, without windows."""
    return Builder().build(make_parser().parse(text, {}))


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_windows_do_not_show(text: str) -> None:
    assert parts_of(text) == parts_of(text, SMALL) == in_one_go(text)


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.integers(1, 7))
def test_case_44_a_streamed_text_ends_like_one_that_came_whole(text: str, step: int) -> None:
    assert streamed(text, step=step) == streamed(text, SMALL, step) == parts_of(text)


@settings(max_examples=40, deadline=None)
@given(TEXTS)
def test_places_of_cuts_depend_on_the_text_alone(text: str) -> None:
    assert streamed(text, TINY) == parts_of(text, TINY)


@settings(max_examples=30, deadline=None)
@given(TEXTS)
def test_parts_that_are_called_stable_never_change(text: str) -> None:
    stream = MarkdownStream(SMALL)
    kept: list[Part] = []
    for end in range(1, len(text) + 1):
        stream.set_text(text[:end], final=False)
        stream.advance(lambda: False)
        if "[foo]:" not in text:
            assert stream.parts[: len(kept)] == kept
        kept = stream.parts[: stream.stable]


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert streamed(text, step=5) == parts_of(text)


def test_a_text_that_changes_before_its_end_is_read_afresh() -> None:
    stream = MarkdownStream()
    for text in ("# one\n\ntwo", "# ONE\n\ntwo\n\nthree", ""):
        stream.set_text(text, final=True)
        stream.advance(lambda: False)
        assert stream.parts == parts_of(text)


def test_reading_stops_when_tired_and_goes_on() -> None:
    stream = MarkdownStream()
    text = "word word word\n\n" * 2000
    stream.set_text(text, final=True)
    shares = []
    while not stream.done:
        stream.advance(lambda: True)
        shares.append(stream.share)
    assert len(shares) > 5
    assert shares == sorted(shares)
    assert stream.parts == parts_of(text)


def test_a_definition_at_the_end_reaches_links_above() -> None:
    text = "See [this] and [that][t].\n\nMore.\n\n[this]: https://a.example\n[t]: https://b.example\n"
    hrefs = [span.href for part in streamed(text) if isinstance(part, Paragraph) for span in part.content.spans]
    assert hrefs == ["https://a.example", "https://b.example"]


ANGLES = "<grin> apples std::vector<int> v; #include <vector> Map<String, List<T>> a <!-- note --> b"
HTML = (
    "<style>p{color:white}</style>hello <div style='font-size:90px'>big</div> <table width=99999><tr><td>x</table> "
    "<details><summary>s</summary>t</details> <input value=1>"
)


@pytest.mark.parametrize("text", [ANGLES, HTML], ids=["case 38", "case 40"])
def test_angle_brackets_stay(text: str) -> None:
    assert words(parts_of(text)) == [text]
    assert words(plain_parts(text)) == [text]


FENCES = [
    ("four around three", "````\n```py\nx\n```\n````\n", [("", "```py\nx\n```")]),
    ("tildes", "~~~js\na\n~~~\n", [("js", "a")]),
    ("in a list item", "- item\n\n  ```sh\n  ls\n\n  pwd\n  ```\n", [("sh", "ls\n\npwd")]),
    ("seventeen spaces", "```yaml\na:\n                 b: c\n```\n", [("yaml", "a:\n                 b: c")]),
    ("info string", '```c++ title="x y"\nint a;\n```\n', [("c++", "int a;")]),
    ("in details", "<details>\n\n```py\nx\n```\n\n</details>\n", [("py", "x")]),
    ("blank lines", "```\n\na\n\n\n```\n", [("", "\na\n\n")]),
    ("not closed", "```py\na\n", [("py", "a")]),
    ("indented fence", "  ```\n  a\n    b\n  ```\n", [("", "a\n  b")]),
    ("tabs and blanks", "```\n\tx \n \u00a0y\u200b\n```", [("", "\tx \n \u00a0y\u200b")]),
    ("attributes", "``` {.python}\nx\n```", [("python", "x")]),
    ("shorter fence inside", "```\n``\n`\n```", [("", "``\n`")]),
]


@pytest.mark.parametrize(("text", "blocks"), [case[1:] for case in FENCES], ids=[case[0] for case in FENCES])
def test_case_43_fences(text: str, blocks: list[tuple[str, str]]) -> None:
    for parts in (parts_of(text), streamed(text)):
        assert [(part.language, part.code) for part in parts if isinstance(part, Code)] == blocks


CALL = '{"name":"f","arguments":{}}'
WHOLE = f"<tool_call>\n{CALL}\n</tool_call>"
CALLS: list[tuple[str, str, list[tuple[str, str]], list[str]]] = [
    ("whole", WHOLE, [("json", WHOLE)], []),
    ("behind words", f"I ask.\n{WHOLE}\nDone.", [("json", WHOLE)], ["I ask.", "Done."]),
    ("in one line", f"<tool_call>{CALL}</tool_call>\n\nOk.", [("json", f"<tool_call>{CALL}</tool_call>")], ["Ok."]),
    ("cut off", '<tool_call>{"a":', [("json", '<tool_call>{"a":')], []),
    (
        "blank lines and Markdown in it",
        "<tool_call>\n\n# a\n- b\n</tool_call>\n",
        [("json", "<tool_call>\n\n# a\n- b\n</tool_call>")],
        [],
    ),
    ("in an item", "- x\n\n  " + WHOLE.replace("\n", "\n  ") + "\n", [("json", WHOLE)], ["x"]),
    ("code that has one", "```xml\n<tool_call>\n```\n", [("xml", "<tool_call>")], []),
    ("ordinary JSON", f'{{"name": "x"}} and {CALL}', [], [f'{{"name": "x"}} and {CALL}']),
    ("the word in a sentence", "Qwen writes <tool_call> first.", [], ["Qwen writes <tool_call> first."]),
]


@pytest.mark.parametrize(("text", "code", "said"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_case_34_calls_of_tools_are_shown_whole(text: str, code: list[tuple[str, str]], said: list[str]) -> None:
    for parts in (parts_of(text), streamed(text), streamed(text, SMALL)):
        assert [(part.language, part.code) for part in parts if isinstance(part, Code)] == code
        assert words([part for part in parts if not isinstance(part, Code)]) == said


@pytest.mark.parametrize("text", ["$$\n$$\n```\n$$\n", "$$\n$$\n```\n```\n$$\n", "$$\n$$\n<tool_call>\n$$\n"])
def test_case_44_an_empty_formula_is_none_while_streaming_too(text: str) -> None:
    assert streamed(text, step=1) == streamed(text, SMALL, 1) == parts_of(text) == in_one_go(text)


def test_case_43_a_fence_of_equal_length_inside_is_stable_while_streaming() -> None:
    text = "```markdown\n# x\n```py\ncode\n```\nend\n```\n"
    assert streamed(text) == parts_of(text)


def test_an_open_fence_is_code_from_its_first_line() -> None:
    assert half_way("text\n\n```py\nimport os") == [
        *parts_of("text"),
        Code(code="import os", language="py", gap=half_way("a\n\n```\nb")[1].gap),
    ]


def test_the_user_s_text_keeps_every_character_but_fences() -> None:
    text = "# no heading\n\n\n  two  spaces\n* star\n```py\nx = 1\n```\nafter https://a.example/x."
    parts = plain_parts(text)
    assert words(parts) == ["# no heading\n\n\n  two  spaces\n* star", "x = 1", "after https://a.example/x."]
    last = parts[-1]
    assert isinstance(last, Paragraph)
    assert last.content.spans == (Span(6, 19, Style.LINK, "https://a.example/x"),)


def test_styles_lists_and_tasks() -> None:
    parts = parts_of("a **b** _c_ ~~d~~ `e` [f](http://g)\n\n1. x\n   - y\n2. [x] z\n\n> q\n\n---\n")
    first = parts[0]
    assert isinstance(first, Paragraph)
    assert first.content.text == "a b c d e f"
    assert [span.style for span in first.content.spans] == [
        Style.BOLD, Style.ITALIC, Style.STRIKE, Style.CODE, Style.LINK,
    ]  # fmt: skip
    assert [(part.marker, part.frames) for part in parts[1:5]] == [("1.", "l"), ("•", "ll"), ("[x]", "l"), ("", "q")]
    assert isinstance(parts[5], Rule)


def places(text: str) -> list[tuple[str, int, tuple[str, ...]]]:
    """Frames, how many of them are fresh, and all markers of each part."""
    return [(part.frames, part.fresh, (*part.outer_markers, part.marker)) for part in parts_of(text)]


@pytest.mark.parametrize("first", ["> q", "***", "# h", "```\n  c\n  ```", "| a |\n  |---|\n  | 1 |", "$$a$$"])
def test_whatever_an_item_begins_with_carries_its_bullet(first: str) -> None:
    assert [place[2] for place in places(f"- {first}\n- b\n")] == [("•",), ("•",)]


def test_items_that_begin_together_stand_in_one_line() -> None:
    assert places("- - a\n  - b\n1. > - 2. c\n") == [
        ("ll", 2, ("•", "•")), ("ll", 1, ("•",)), ("lqll", 4, ("1.", "•", "2."))
    ]  # fmt: skip
    assert places("- -\n") == [("ll", 2, ("•", "•"))]
    assert places("- - [x] a\n") == [("ll", 2, ("•", "[x]"))]


def test_neighbours_are_told_apart() -> None:
    assert [place[1] for place in places("> a\n>\n> b\n\n> c\n")] == [1, 0, 1]
    assert [place[1] for place in places("> a\n>\n> > b\n>\n> c\n")] == [1, 1, 0]
    assert [place[:2] for place in places("- > a\n- > b\n\n  > c\n")] == [("lq", 2), ("lq", 2), ("lq", 1)]


def test_a_quotation_that_is_cut_goes_on() -> None:
    long = "".join(f"> word {number}\n>\n" for number in range(2000))
    assert [part.fresh for part in parts_of(long)] == [1] + 1999 * [0]


def test_the_language_of_a_block_is_read_as_text_is() -> None:
    assert [
        part.language for part in parts_of("``` c\\+\\+\n```\n~~~ f&ouml;&ouml; x\n~~~\n") if isinstance(part, Code)
    ] == [
        "c++",
        "föö",
    ]


def test_pictures_are_words() -> None:
    parts = parts_of("![a *fine* plan](file:///etc/passwd) ![](x)")
    assert words(parts) == ["a fine plan picture"]


def test_case_50_a_large_table_comes_in_slices() -> None:
    rows = [f"| {n} | x | y | z | a | b | c | d |" for n in range(2000)]
    text = "|A|B|C|D|E|F|G|H|\n" + "|-" * 8 + "|\n" + "\n".join(rows) + "\n\nend"
    parts = parts_of(text)
    tables = [part for part in parts if isinstance(part, Table)]
    assert [part.first_row for part in tables] == list(range(0, 2000, len(tables[0].rows)))
    assert sum(len(part.rows) for part in tables) == 2000
    assert max(len(part.rows) * len(part.aligns) for part in tables) <= 192
    assert words(parts)[-1] == "end"
    assert streamed(text, step=997) == parts


def test_case_50_a_cell_of_50_kb_and_rows_with_too_many_cells() -> None:
    text = f"| a | b |\n|---|---|\n| 1 | {'x' * 50_000} |\n| 2 | 3 | 4 | 5 |\n| 6 |\n"
    table = parts_of(text)
    rows = [row for part in table if isinstance(part, Table) for row in part.rows]
    assert [[len(cell.text) for cell in row] for row in rows] == [[1, 50_000], [1, 1], [1, 0]]
    assert streamed(text, step=4093) == table


@pytest.mark.parametrize("size", [20_000, 1_000_000])
def test_case_49_a_line_without_end_comes_in_pieces(size: int) -> None:
    parts = parts_of("A" * size)
    assert max(len(plain_text(part)) for part in parts) <= MAX_PARAGRAPH
    assert "".join(words(parts)) == "A" * size
    assert all(isinstance(part, Paragraph) and part.joined for part in parts[1:])


def test_a_megabyte_is_not_held_as_one_block() -> None:
    parts = parts_of("word and word\n" * 70_000)
    assert max(len(plain_text(part)) for part in parts) <= MAX_PARAGRAPH
