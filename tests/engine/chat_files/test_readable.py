"""Exports to read: what they say, and that nothing in them can act."""

from __future__ import annotations

import zipfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.chat.portable import PortableConversation, PortableMessage, PortablePart
from engine.chat_files import readable
from engine.chat_files.exporting import Format, file_name, write, write_each
from engine.errors import VrambleError

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> [j](javascript:alert(1)) ![p](http://evil.example/x.png)"
    " ![f](file:///etc/passwd) <style>*{display:none}</style> <iframe src=//evil.example></iframe>"
)


def conversation(*words: str, title: str = "Title", folder: str | None = None) -> PortableConversation:
    """Question and answer in turn; answers have a thought."""
    messages = []
    for number, text in enumerate(words):
        thought = (PortablePart("thinking", "hm", -1),) if number % 2 else ()
        messages.append(
            PortableMessage(
                id=str(number),
                parent=str(number - 1) if number else None,
                role="assistant" if number % 2 else "user",
                model="Tiny" if number % 2 else None,
                parts=(*thought, PortablePart("text", text)),
            )
        )
    return PortableConversation(id="c", title=title, tip=str(len(words) - 1), folder=folder, messages=tuple(messages))


class Tags(HTMLParser):
    """What a browser would do."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def parsed(*words: str) -> Tags:
    page = b"".join(readable.page([conversation(*words, title=words[0][:50])])).decode()
    tags = Tags()
    tags.feed(page)
    return tags


def test_markdown_has_everything() -> None:
    text = b"".join(readable.markdown([conversation("Why?", "Because.\n```py\nx = 1")])).decode()
    assert text.startswith("# Title\n\n## You\n\nWhy?\n\n## Tiny\n\n> hm\n\nBecause.\n```py\nx = 1\n```\n")


def test_plain_text_is_as_it_was_said() -> None:
    text = b"".join(readable.plain([conversation("Why?", "**Because.**")])).decode()
    assert "You:\n\nWhy?" in text
    assert "Tiny:\n\n**Because.**" in text


@pytest.mark.parametrize("place", [0, 1])
def test_nothing_in_the_page_can_act(place: int) -> None:
    words = ["harmless", "harmless"]
    words[place] = HOSTILE
    tags = parsed(*words)
    assert not tags.tags & {"script", "img", "iframe", "object", "link", "base", "form", "svg"}
    assert not [name for name, _ in tags.attributes if name.startswith("on")]
    assert not [value for name, value in tags.attributes if name in ("src", "href") and not value.startswith("http")]
    assert "<script>alert(1)</script>" in tags.text


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_makes_a_page_that_does_not_act(question: str, answer: str) -> None:
    tags = parsed(question or "x", answer)
    assert not tags.tags & {"script", "img", "iframe", "object", "link", "base", "form", "svg"}


@given(st.text(max_size=300))
def test_file_names_are_safe(title: str) -> None:
    name = file_name(title)
    assert name
    assert not set(name) & set('/\\:*?"<>|\0\n')
    assert name not in (".", "..")
    assert not name.startswith(" ")


def test_a_zip_has_a_file_for_each(tmp_path: Path) -> None:
    many = [
        conversation("a", title="Same"),
        conversation("b", title="same"),
        conversation("c", title="x", folder="A/B"),
    ]
    assert write_each(many, tmp_path / "all.zip", Format.MARKDOWN) == 3
    assert zipfile.ZipFile(tmp_path / "all.zip").namelist() == ["Same.md", "same (2).md", "A B/x.md"]


@pytest.mark.parametrize("form", list(Format))
def test_all_in_one_file(tmp_path: Path, form: Format) -> None:
    path = tmp_path / f"all.{form}"
    assert write([conversation("first", "x"), conversation("second", "y")], path, form) == 2
    content = path.read_text()
    assert content.index("first") < content.index("second")


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(VrambleError) as raised:
        write([conversation("a")], tmp_path / "gone" / "x.md", Format.MARKDOWN)
    assert raised.value.code == "export-file"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_text("old")

    def failing() -> object:
        yield conversation("a")
        raise VrambleError("database-damaged", "no")

    with pytest.raises(VrambleError):
        write(failing(), path, Format.MARKDOWN)  # type: ignore[arg-type]
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("x.md", "old")]
