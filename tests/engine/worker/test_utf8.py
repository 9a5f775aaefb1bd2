"""Characters spread over tokens."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.worker.utf8 import Utf8Stream


def streamed(pieces: list[bytes]) -> tuple[list[str], str]:
    stream = Utf8Stream()
    shown = [stream.feed(piece) for piece in pieces]
    return shown, stream.flush()


def cut(data: bytes, places: list[int]) -> list[bytes]:
    bounds = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(bounds)]


def test_a_joined_emoji_over_six_tokens() -> None:
    pieces = [bytes.fromhex(text) for text in ("F0", "9F91", "A8E280", "8DF09F", "91A920", "41CC", "81")]
    shown, rest = streamed(pieces)
    assert "".join(shown) + rest == b"".join(pieces).decode()
    assert not any("\ufffd" in text for text in shown)
    assert rest == ""


def test_bytes_that_never_become_valid() -> None:
    shown, rest = streamed([b"Hi\xff", b"\x80", b"!"])
    assert "".join(shown) + rest == "Hi\ufffd\ufffd!"


def test_a_dangling_tail_is_one_sign() -> None:
    shown, rest = streamed([b"a", b"\xf0\x9f"])
    assert shown == ["a", ""]
    assert rest == "\ufffd"


@pytest.mark.parametrize("pieces", [[b"\xe4\xbd", b"\xa0"], [b"\xe4", b"\xbd", b"\xa0"]])
def test_chinese_in_pieces(pieces: list[bytes]) -> None:
    assert streamed(pieces)[0][-1] == "你"


@given(st.text(), st.lists(st.integers(0, 400), max_size=12))
def test_any_text_survives_any_cut(text: str, places: list[int]) -> None:
    shown, rest = streamed(cut(text.encode(), places))
    assert "".join(shown) + rest == text
    assert "\ufffd" in text or not any("\ufffd" in part for part in shown)


@given(st.binary(), st.lists(st.integers(0, 400), max_size=12))
def test_any_bytes_give_text_that_does_not_depend_on_the_cut(data: bytes, places: list[int]) -> None:
    shown, rest = streamed(cut(data, places))
    assert "".join(shown) + rest == data.decode("utf-8", "replace")
