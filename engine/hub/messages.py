"""What the hub child and its parent say to each other: one JSON object a line.

The parent writes requests, as many at a time as it likes, and keeps the pipe open; closing it ends the child. Each
request has one answer with its id, unless it was cancelled: then it has none.
"""

from __future__ import annotations

from typing import Final

import msgspec

from engine.errors import VrambleError
from engine.hub.records import RepoPage, SearchPage, SearchQuery
from engine.library.hub_errors import HubError


class Search(msgspec.Struct, frozen=True, kw_only=True, tag="search"):
    """One page of a search.

    Attributes:
        cursor: From the page before; empty: the first page.
        fresh: Ask even if an answer was kept a moment ago.
        offline: Answer from what was kept, open no socket.
    """

    id: int
    query: SearchQuery
    cursor: str = ""
    fresh: bool = False
    offline: bool = False


class Open(msgspec.Struct, frozen=True, kw_only=True, tag="open"):
    """The page of a repository; ``text`` as in `engine.library.address.parse_repo`."""

    id: int
    text: str
    fresh: bool = False
    offline: bool = False


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag="cancel"):
    """The request ``id`` is not wanted any more."""

    id: int


Request = Search | Open | Cancel


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """No answer. Fields as in `engine.errors.VrambleError`; ``retry_after`` as in `HubError`, in seconds."""

    id: int
    code: str
    message: str
    next_step: str = ""
    detail: str = ""
    retry_after: float | None = None

    def error(self) -> VrambleError:
        """As an exception."""
        return VrambleError(self.code, self.message, self.next_step, self.detail)


class Found(msgspec.Struct, frozen=True, kw_only=True, tag="found"):
    """A page of a search. ``problem``: why it is a kept one."""

    id: int
    page: SearchPage
    kept: bool = False
    problem: Failed | None = None


class Opened(msgspec.Struct, frozen=True, kw_only=True, tag="opened"):
    """The page of a repository. ``problem``: why it is a kept one."""

    id: int
    page: RepoPage
    kept: bool = False
    problem: Failed | None = None


Event = Found | Opened | Failed

MAX_LINE: Final = 16 * 1024 * 1024

_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(Request)
_events = msgspec.json.Decoder(Event)


def encode(message: Request | Event) -> bytes:
    """One line."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    """The request in ``line``. Raises msgspec.DecodeError."""
    return _requests.decode(line)


def decode_event(line: bytes) -> Event | None:
    """The event in ``line``; None when it is none."""
    try:
        return _events.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def failed(number: int, error: VrambleError) -> Failed:
    """Answer to the request ``number`` for ``error``."""
    return Failed(
        id=number,
        code=error.code,
        message=error.message,
        next_step=error.next_step,
        detail=error.detail,
        retry_after=error.retry_after if isinstance(error, HubError) else None,
    )
