"""Text at the border, grapheme clusters, titles."""

from __future__ import annotations

import json
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat.graphemes import clusters, cut
from engine.chat.text import StreamCleaner, clean
from engine.chat.titles import MAX_GRAPHEMES, make_title, title_of

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
THUMB = "\U0001f44d\U0001f3fd"
anything = st.text(alphabet=st.characters(codec=None, exclude_categories=()))


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ud83d\ude00", "😀"),
        ("a\0b", "a\ufffdb"),
        ("\x1b[31m", "␛[31m"),
        ("\x07", "␇"),
        ("\x7f", "␡"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("\ttab", "\ttab"),
        ("\ufffe", "\ufffe"),
        ("\x85\x9b", "\n\ufffd"),
    ],
)
def test_clean(given_text: str, expected: str) -> None:
    assert clean(given_text) == expected


@given(anything)
def test_cleaned_text_is_stable_and_encodable(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert json.loads(json.dumps(once, ensure_ascii=False).encode("utf-8")) == once


@given(st.text(alphabet="\r\na\ud83d\ude00\x1b", max_size=12), st.lists(st.integers(0, 12), max_size=4))
def test_a_stream_cleans_like_the_whole(text: str, borders: list[int]) -> None:
    cuts = [0, *sorted(min(border, len(text)) for border in borders), len(text)]
    cleaner = StreamCleaner()
    pieces = [cleaner.feed(text[start:end]) for start, end in pairwise(cuts)]
    assert "".join(pieces) + cleaner.finish() == clean(text)


@pytest.mark.parametrize(
    "cluster",
    [
        FAMILY,
        FLAG,
        THUMB,
        "e\u0301",
        "❤\ufe0f",
        "1\ufe0f\u20e3",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "한",
        "\u1112\u1161\u11ab",
        "가\u11a8",
        "क्",
        "\r\n",
        "นี้"[:3],
        "\U0001f469\U0001f3fd\u200d\U0001f680",
        "\U0001f575\ufe0f\u200d♀\ufe0f",
    ],
)
def test_one_cluster(cluster: str) -> None:
    assert list(clusters(cluster)) == [cluster]
    assert list(clusters("x" + cluster + "y")) == ["x", cluster, "y"]


def test_neighbours_stay_apart() -> None:
    assert list(clusters(FAMILY * 2)) == [FAMILY, FAMILY]
    assert list(clusters(FLAG * 3)) == [FLAG] * 3
    assert list(clusters("a\u200db")) == ["a\u200d", "b"]
    assert list(clusters("\u200d\U0001f468")) == ["\u200d", "\U0001f468"]
    assert list(clusters("ab\ncd")) == ["a", "b", "\n", "c", "d"]


@given(anything, st.integers(0, 20))
def test_clusters_lose_nothing(text: str, most: int) -> None:
    found = list(clusters(text))
    assert "".join(found) == text
    assert all(found)
    assert cut(text, most) == "".join(found[:most])


@pytest.mark.parametrize(
    ("message", "title"),
    [
        (FAMILY, FAMILY),
        (FLAG + " flag", FLAG + " flag"),
        (THUMB, THUMB),
        ("e\u0301te\u0301", "e\u0301te\u0301"),
        ("\n".join(f"line {n}" for n in range(3)), "line 0 line 1 line 2"),
        (" \t\n\u3000", ""),
        ("😀", "😀"),
        ("<b>x</b>", "<b>x</b>"),
        ("\u202eabc", "abc"),
        ("\u200d\u200b\ufe0f", ""),
        ("\u200d Hello", "Hello"),
        ("a\u2028b", "a b"),
        ("", ""),
        ("\u3164", ""),
    ],
)
def test_titles(message: str, title: str) -> None:
    assert make_title(message) == title


@pytest.mark.parametrize(
    ("message", "title"),
    [
        ("# Why is **this** so `slow`?", "Why is this so slow?"),
        ("**Bold** and *slanted* and ***both*** and ~~gone~~", "Bold and slanted and both and gone"),
        ("```python\nprint(1)\n```\nWhat is it?", "print(1) What is it?"),
        ("## First\n\n> quoted\n> > twice", "First quoted twice"),
        ("what does ``a ` b`` do", "what does ``a ` b`` do"),
        ("2 * 3 * 4, 2*3*4 and 2**3**4", "2 * 3 * 4, 2*3*4 and 2**3**4"),
        ("__init__ in C# and #hashtag", "__init__ in C# and #hashtag"),
        ("a > b or ~/x ~ y", "a > b or ~/x ~ y"),
        ("**", "**"),
        ("```", "```"),
        ("  ", ""),
    ],
)
def test_the_title_of_a_message_has_no_markdown(message: str, title: str) -> None:
    assert title_of(message) == title


@pytest.mark.parametrize("piece", ["*", "**a", "`", "``a ", "~~", "# ", "> ", "* a"])
def test_marks_without_end_are_no_burden(piece: str) -> None:
    assert title_of(piece * 20_000).endswith("…")


@given(anything)
def test_any_message_has_a_title_of_one_plain_line(message: str) -> None:
    title = title_of(message)
    assert bool(title) == bool(make_title(message))
    assert title == make_title(title)


@pytest.mark.parametrize("start", [FAMILY * 30, FLAG * 90, "e\u0301" * 200, "word " * 5000, "漢" * 61, "x\n" * 100])
def test_long_titles_are_cut_between_characters(start: str) -> None:
    title = make_title(start)
    whole = list(clusters(title))
    assert len(whole) <= MAX_GRAPHEMES
    if title.endswith("…"):
        assert len(whole) == MAX_GRAPHEMES or whole[-2] != " "
        assert set(whole[:-1]) <= set(clusters(start.replace("\n", " ")))
    else:
        assert title == start


@given(anything)
def test_any_title_is_one_plain_line(message: str) -> None:
    title = make_title(message)
    assert sum(1 for _ in clusters(title)) <= MAX_GRAPHEMES
    assert title == title.strip()
    assert not any(unicodedata.category(char) in ("Cc", "Zl", "Zp", "Cs") for char in title)
    assert not set(title) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
