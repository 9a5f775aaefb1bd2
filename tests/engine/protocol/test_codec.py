"""The codec: every frame survives the way, wherever the bytes are cut and whatever lies between the lines."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.codec import Garbage, LineDecoder, encode, worker_input, worker_output
from engine.protocol.frames import TERMINAL_TYPES, Delta, Failed, Generate, Progress, Request, Terminal, Unloaded
from engine.protocol.types import ChatMessage
from tests.engine.protocol.strategies import any_text, clean_text, cut, from_worker, to_worker

places = st.lists(st.integers(0, 10_000), max_size=12)
garbage_lines = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b" ")), max_size=5)


def feed(decoder: LineDecoder, pieces: list[bytes]) -> list:
    return [frame for piece in pieces for frame in decoder.feed(piece)]


@given(st.lists(from_worker(clean_text), max_size=4), places)
def test_events_survive_any_cuts(frames, where) -> None:
    data = b"".join(encode(frame) for frame in frames)
    assert feed(worker_output(), cut(data, where)) == frames


@given(st.lists(to_worker(clean_text), max_size=4), places)
def test_requests_survive_any_cuts(frames, where) -> None:
    data = b"".join(encode(frame) for frame in frames)
    assert feed(worker_input(), cut(data, where)) == frames


@given(to_worker(any_text) | from_worker(any_text))
def test_every_frame_is_one_line_of_json(frame) -> None:
    data = encode(frame)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    assert json.loads(data)["type"] == frame.__struct_config__.tag


@given(st.text(st.characters(), max_size=40))
def test_lone_surrogates_become_replacement_characters(text) -> None:
    (frame,) = worker_input().feed(encode(Generate(id=1, messages=(ChatMessage(role="user", content=text),))))
    assert isinstance(frame, Generate)
    assert frame.messages[0].content == text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def test_surrogate_pair_is_joined_and_a_lone_one_replaced() -> None:
    (frame,) = worker_output().feed(encode(Delta(id=1, text="a\ud83d\ude00b\udcffc")))
    assert frame == Delta(id=1, text="a😀b\ufffdc")


@given(st.lists(from_worker(clean_text), min_size=1, max_size=4), garbage_lines, places)
def test_garbage_between_frames_loses_no_frame(frames, lines, where) -> None:
    data = b"".join(b"\n".join([*lines, encode(frame)]) for frame in frames)
    got = feed(worker_output(), cut(data, where))
    assert [frame for frame in got if not isinstance(frame, Garbage)] == frames


@given(st.binary(max_size=300), places)
def test_any_bytes_give_garbage_never_an_exception(data, where) -> None:
    for decoder in (worker_output(), worker_input()):
        assert all(isinstance(frame, Garbage | msgspec.Struct) for frame in feed(decoder, cut(data, where)))


@pytest.mark.parametrize(
    "line",
    [
        b"null",
        b"42",
        b"[" * 100_000,
        b'{"type":"delta"}',
        b'{"type":"delta","id":1.5,"text":"x"}',
        b'{"type":"delta","id":1,"text":null}',
        b'{"type":"nonsense","id":1}',
        b'{"id":1,"text":"x"}',
        b'{"type":"delta","id":' + b"9" * 5000 + b',"text":"x"}',
        b'{"type":"delta","id":1,"text":"x","tps":NaN}',
        b'{"type":"delta","id":1,"text":"\\ud800"}',
        b'{"type":"delta","id":1,"text":"\xff"}',
        b'{"type":"delta","id":1,"text":"cut',
    ],
)
def test_a_line_that_is_no_frame_is_named(line: bytes) -> None:
    first, second = worker_output().feed(line + b"\n" + encode(Unloaded(id=2)))
    assert isinstance(first, Garbage)
    assert first.reason
    assert len(first.line) <= 200
    assert second == Unloaded(id=2)


def test_empty_lines_are_nothing() -> None:
    assert worker_output().feed(b"\n\r\n  \n") == []


@given(st.integers(201, 400), places)
def test_overlong_line_is_dropped_wherever_it_is_cut(length, where) -> None:
    decoder = LineDecoder(msgspec.json.Decoder(Progress), max_line=200)
    frame = Progress(id=1, stage="load", done=1, total=2)
    data = b"x" * length + b"\n" + encode(frame)
    got = feed(decoder, cut(data, where))
    assert got == [Garbage(line=b"x" * 200, reason="line too long"), frame]


def test_unknown_fields_of_a_newer_worker_are_ignored() -> None:
    assert worker_output().feed(b'{"type":"unloaded","id":3,"new":[1]}\n') == [Unloaded(id=3)]


def test_each_request_has_its_own_terminal_event() -> None:
    assert set(TERMINAL_TYPES) == set(Terminal.__args__)
    assert len(TERMINAL_TYPES) == len(Request.__args__) + 1
    assert Failed in TERMINAL_TYPES
