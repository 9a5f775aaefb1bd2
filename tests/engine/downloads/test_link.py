"""Bodies read from the connection itself, and through the client."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.downloads import link
from engine.downloads.link import ClientReader, Read, SocketReader
from engine.library.hub_errors import HubError


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def all_of(read: Read, size: int = 1000) -> bytes:
    found, place = bytearray(), memoryview(bytearray(size))
    while count := read(place):
        found += place[:count]
    return bytes(found)


@given(pieces=st.lists(st.binary(max_size=50)), size=st.integers(1, 60))
def test_what_the_client_gives_comes_whole(pieces: list[bytes], size: int) -> None:
    assert all_of(ClientReader(iter(pieces)).read, size) == b"".join(pieces)


def test_what_came_with_the_headers_is_first_and_nothing_behind_the_body_is_read(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    theirs.sendall(b"two" + b"three" + b"next answer")
    assert all_of(SocketReader(ours, iter((b"one",)), 11, 60).read) == b"onetwothree"
    assert ours.recv(100) == b"next answer"


def test_small_pieces_are_gathered(ends: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    """As of TLS, which gives 16 KiB at a time."""
    monkeypatch.setattr(link, "GATHER_S", 60)
    ours, theirs = ends
    reader = SocketReader(ours, iter((b"",)), 3000, 60)

    def send() -> None:
        for _ in range(30):
            theirs.sendall(bytes(100))

    sender = threading.Thread(target=send)
    sender.start()
    place = memoryview(bytearray(2000))
    assert reader.read(place) == 2000
    assert reader.read(place) == 1000
    sender.join()


def test_what_comes_slowly_is_not_held_back(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    reader = SocketReader(ours, iter((b"",)), 3000, 60)
    theirs.sendall(b"some")
    assert reader.read(memoryview(bytearray(2000))) == 4


def test_a_connection_that_ends_gives_what_it_brought_and_then_says_so(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    theirs.sendall(b"some")
    theirs.close()
    reader = SocketReader(ours, iter((b"",)), 3000, 60)
    place = memoryview(bytearray(2000))
    assert reader.read(place) == 4
    with pytest.raises(HubError) as told:
        reader.read(place)
    assert (told.value.code, told.value.retryable) == ("broken-off", True)


def test_silence_is_a_sentence(ends: tuple[socket.socket, socket.socket]) -> None:
    reader = SocketReader(ends[0], iter((b"",)), 3000, 0.05)
    with pytest.raises(HubError) as told:
        reader.read(memoryview(bytearray(10)))
    assert told.value.code == "stalled"


def test_another_thread_ends_a_read_that_waits(ends: tuple[socket.socket, socket.socket]) -> None:
    class Stream:
        def get_extra_info(self, name: str) -> object:
            return ends[0] if name == "socket" else None

    reader = SocketReader(ends[0], iter((b"",)), 3000, 600)
    found: list[str] = []

    def wait() -> None:
        try:
            reader.read(memoryview(bytearray(10)))
        except HubError as error:
            found.append(error.code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    link.shut(Stream())
    waiting.join(60)
    assert found == ["broken-off"]


def test_the_client_does_not_close_the_connection_meanwhile(ends: tuple[socket.socket, socket.socket]) -> None:
    """It does so when nobody has its pieces any more."""
    ours, theirs = ends

    def pieces() -> Iterator[bytes]:
        try:
            yield b"one"
            yield b"never asked for"
        finally:
            ours.close()

    reader = SocketReader(ours, pieces(), 6, 60)
    theirs.sendall(b"two")
    assert all_of(reader.read) == b"onetwo"
