"""Model cards: what is shown of a stranger's text."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from engine.hub.card import LONGEST, plain_card

PAGE = "https://hub.example/maker/some-GGUF"


def plain(source: str) -> str:
    return plain_card(source, PAGE)[0]


@pytest.mark.parametrize(
    "front",
    [
        "---\nlicense: mit\n---\n",
        "---\r\nlicense: mit\r\n---\r\n",
        "\n---\ntags:\n- a\n---\n",
        "\ufeff---\na: 1\n---\n",
    ],
)
def test_front_matter_is_taken_off(front: str) -> None:
    assert plain(f"{front}\n# Title\n\nText\n") == "# Title\n\nText"


def test_the_hubs_own_reader_sees_the_same_text() -> None:
    from huggingface_hub import ModelCard

    source = "---\nlicense: mit\nlanguage:\n- en\n---\n\n# Title\n\n---\n\nBelow a rule\n"
    assert plain(source) == ModelCard(source).text.strip()


@pytest.mark.parametrize("source", ["# Only text\n\n---\n\nmore", "---\nnever closed\n\ntext", ""])
def test_what_is_no_front_matter_stays(source: str) -> None:
    assert plain(source) == source.strip()


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("<h1>Big <b>model</b></h1>", "# Big **model**"),
        ("a<br>b", "a  \nb"),
        ("<p align='center'>\n    deep\n</p>", "deep"),
        ('<a href="https://x.example">text</a>', "[text](https://x.example)"),
        ("<a href='docs/a.md'>text</a>", f"[text]({PAGE}/blob/main/docs/a.md)"),
        ('<a href="https://x.example"><img src="b.svg" alt="Badge"></a>', "[Badge](https://x.example)"),
        ('<a href="https://x.example"><img src="b.svg"></a>', ""),
        ("<ul><li>one</li><li>two</li></ul>", "- one\n- two"),
        ("<details><summary>More</summary>inside</details>", "**More**\n\ninside"),
        ("<https://x.example> <javascript:a>", "[https://x.example](https://x.example) javascript:a"),
        ("before<!-- a\ncomment -->after", "beforeafter"),
        ("a<script>alert(1)</script>b", "ab"),
        ("a<style>p {}</style>b", "ab"),
        ("<em>x</em> <code>y</code> <del>z</del>", "*x* `y` ~~z~~"),
        ("&copy; &nbsp;&lt;tag&gt; &amp;", "© \xa0&lt;tag&gt; &amp;"),
        ("1 < 2 and 3 > 2, a<b>c", "1 < 2 and 3 > 2, a**c"),
    ],
)
def test_html_becomes_the_markdown_that_says_the_same(source: str, wanted: str) -> None:
    assert plain(source) == wanted


def test_a_table_of_html() -> None:
    source = "<table>\n<tr><th>Quant</th><th>Size</th></tr>\n<tr><td>Q4</td>\n<td>2\nGB</td></tr>\n</table>\nafter"
    text = plain(source)
    assert MarkdownIt("commonmark").enable("table").render(text) == MarkdownIt("commonmark").enable("table").render(
        "| Quant | Size |\n|---|---|\n| Q4 | 2 GB |\n\nafter"
    )


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("![](a.png)", ""),
        ("![A chart](https://x.example/a.png)", "A chart"),
        ('![A](a.png "title")', "A"),
        ("![A][ref]", "A"),
        ("[![Discord](https://img.example/x)](https://d.example)", "[Discord](https://d.example)"),
    ],
)
def test_pictures_leave_their_words(source: str, wanted: str) -> None:
    assert plain(source) == wanted


@pytest.mark.parametrize(
    ("target", "whole"),
    [
        ("https://x.example/a", "https://x.example/a"),
        ("mailto:me@x.example", "mailto:me@x.example"),
        ("#usage", "#usage"),
        ("./m.gguf", f"{PAGE}/blob/main/m.gguf"),
        ("/other/repo", "https://hub.example/other/repo"),
        ("//x.example/a", "https://x.example/a"),
        ("javascript:alert(1)", f"{PAGE}/blob/main/"),
        ("JaVaScRiPt:alert", f"{PAGE}/blob/main/"),
        ("file:///etc/passwd", f"{PAGE}/blob/main/"),
        ("data:text/html,x", f"{PAGE}/blob/main/"),
        ("&#106;avascript:x", f"{PAGE}/blob/main/"),
        ("http://[", f"{PAGE}/blob/main/"),
    ],
)
def test_links_lead_to_the_web_or_to_the_repository(target: str, whole: str) -> None:
    assert plain(f"[a]({target})") == f"[a]({whole})"
    assert plain(f"[a]: {target}") == f"[a]: {whole}"


def test_code_stays_as_it_is() -> None:
    source = "```html\n<b>x</b> ![a](b) [c](d)\n```\n\n`<i>` and ``a ` <b>``\n\n~~~\n<p>\n~~~"
    assert plain(source) == source


def test_a_fence_that_is_never_closed_is_code_to_the_end() -> None:
    assert plain("```\n<b>x</b>") == "```\n<b>x</b>"


def test_a_tag_opened_before_code_is_closed_after_it() -> None:
    assert plain('<a href="x.md">see `code` here</a>') == f"[see `code` here]({PAGE}/blob/main/x.md)"


def test_a_long_card_is_cut_at_a_line() -> None:
    text, cut = plain_card("a line of text\n" * 100_000, PAGE)
    assert cut
    assert len(text) <= LONGEST
    assert text.endswith("a line of text")


PIECES = st.sampled_from([
    "<a href=", '"', "'", ">", "<img src=x>", "<b>", "</b>", "<script>", "</script>", "<!--", "-->", "`", "```\n",
    "\n", "\n\n", "![", "](", ")", "[", "]", "javascript:alert(1)", "data:x", "file:///a", "https://x.example/p", " ",
    "    ", "|", "<table>", "<tr>", "<td>", "---\n", "text", "&lt;", "&#106;", "(", "\0", "\r", "[x]: ", "#", "<li>",
    "<javascript:x>", "<https://a.example>", "<p>", "</p>", "\\",
])  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=400, deadline=None, derandomize=True)
def test_nothing_dangerous_is_left(source: str) -> None:
    """Read by a whole Markdown parser: no picture, and no link that does anything but lead to an address."""
    text = plain(source)
    assert "\0" not in text
    tokens = [child for token in MarkdownIt("commonmark").enable("table").parse(text) for child in token.children or ()]
    for token in tokens:
        assert token.type != "image"
        if token.type == "link_open":
            target = str(token.attrGet("href"))
            assert urlsplit(target).scheme in {"", "http", "https", "mailto"}, (target, text)


@given(st.text(max_size=300))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_text_is_a_card(source: str) -> None:
    assert not re.search(r"<(script|img|iframe)\b[^<>`]*>", re.sub(r"`.*`|```.*", "", plain(source), flags=re.DOTALL))
