"""What the download child and its parent say to each other: one JSON object a line.

The parent writes one request, then perhaps commands, and keeps the pipe open; closing it ends the child. The child
answers with any number of `Progress`, `Waiting` and `Note` and exactly one terminal event.
Paths travel as bytes, because a folder's name need not be text.
"""

from __future__ import annotations

import msgspec

from engine.errors import VrambleError
from engine.library.listing import FilePart, RepoListing


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Patience, in seconds, and room, in bytes.

    Attributes:
        connect_s: For a connection to come about.
        stall_s: Without any data before the connection is given up.
        retries: Attempts in a row that may bring nothing new.
        first_wait_s: Before the first retry; doubles each time up to ``longest_wait_s``.
        longest_wait_s: See above. A wait that the Hub asks for is kept even if it is longer.
        persistent: A network that is away is waited for, however long it takes.
        reserve: Free space to leave on the disk.
        report_s: Least time between two `Progress` events.
    """

    connect_s: float = 15.0
    stall_s: float = 30.0
    retries: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    persistent: bool = False
    reserve: int = 64 * 1024 * 1024
    report_s: float = 0.2


class Fetch(msgspec.Struct, frozen=True, kw_only=True, tag="fetch"):
    """Get all ``files`` of one model into ``<models>/<owner>/<repo>/``.

    Attributes:
        create_root: Make the models folder when it is not there. Off for folders that may be on a card: a new empty
            folder in place of a missing mount would be filled instead of it.
        connections: For one large file.
        limit_bytes_s: Most bytes per second; None: no limit. `Adjust` changes it.
        repair: Files that are here are read, and what is wrong in them is fetched again.
        promised: Bytes that other downloads will still write to the same disk.
        targets: Where the files lie, in the order of ``files``; empty: ``<models>/<owner>/<repo>/<path>``.
    """

    models: bytes
    repo: str
    files: tuple[FilePart, ...]
    revision: str = "main"
    create_root: bool = True
    connections: int = 1
    limit_bytes_s: int | None = None
    repair: bool = False
    promised: int = 0
    targets: tuple[bytes, ...] = ()
    limits: Limits = Limits()


class ListRepo(msgspec.Struct, frozen=True, kw_only=True, tag="list"):
    """List the GGUF files of a repository; ``text`` as in `engine.library.address.parse_repo`."""

    text: str
    timeout_s: float = 15.0


class FetchHeaders(msgspec.Struct, frozen=True, kw_only=True, tag="fetch_headers"):
    """Read the headers of all ``files`` of one model, into sparse files of the right length in ``folder``.

    ``most`` bytes are read at most, all files together.
    """

    folder: bytes
    repo: str
    files: tuple[FilePart, ...]
    revision: str = "main"
    most: int = 16 * 1024 * 1024
    limits: Limits = Limits()


class CheckToken(msgspec.Struct, frozen=True, kw_only=True, tag="check_token"):
    """Ask the Hub whose ``token`` this is."""

    token: str
    timeout_s: float = 15.0


Request = Fetch | ListRepo | FetchHeaders | CheckToken


class Adjust(msgspec.Struct, frozen=True, kw_only=True, tag="adjust"):
    """To a child that fetches: another limit from now on, in bytes per second; None: none."""

    limit_bytes_s: int | None = None


class Nudge(msgspec.Struct, frozen=True, kw_only=True, tag="nudge"):
    """To a child that fetches: the network is back, or another one. Waits end, and connections are made anew."""


Command = Adjust | Nudge


class Progress(msgspec.Struct, frozen=True, kw_only=True, tag="progress"):
    """Bytes of all files together.

    ``stage``: ``connecting``, ``checking`` (reading what is on disk), ``loading`` or ``repairing``.
    """

    stage: str
    done: int
    total: int | None
    connections: int = 0


class Waiting(msgspec.Struct, frozen=True, kw_only=True, tag="waiting"):
    """The next attempt comes in ``seconds``; ``reason`` is a sentence."""

    seconds: float
    reason: str


class Note(msgspec.Struct, frozen=True, kw_only=True, tag="note"):
    """Something the user may want to know, such as why the download began anew."""

    text: str


class Fetched(msgspec.Struct, frozen=True, kw_only=True, tag="fetched"):
    """Terminal: all files are in place. ``path`` is the first; ``sha256`` of it; ``size`` of all."""

    path: bytes
    size: int
    sha256: str
    verified: bool


class Listed(msgspec.Struct, frozen=True, kw_only=True, tag="listed"):
    """Terminal: the listing."""

    listing: RepoListing


class HeadersFetched(msgspec.Struct, frozen=True, kw_only=True, tag="headers_fetched"):
    """Terminal: the headers are there. ``path`` is the first file; ``bytes_read`` came over the network."""

    path: bytes
    bytes_read: int


class TokenChecked(msgspec.Struct, frozen=True, kw_only=True, tag="token_checked"):
    """Terminal: the token is good, and of the account ``name``."""

    name: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """Terminal. Fields as in `engine.errors.VrambleError`."""

    code: str
    message: str
    next_step: str = ""
    detail: str = ""

    def error(self) -> VrambleError:
        """As an exception."""
        return VrambleError(self.code, self.message, self.next_step, self.detail)


Event = Progress | Waiting | Note | Fetched | Listed | HeadersFetched | TokenChecked | Failed
TERMINAL = (Fetched, Listed, HeadersFetched, TokenChecked, Failed)

MAX_LINE = 32 * 1024 * 1024

_encoder = msgspec.json.Encoder()
_requests = msgspec.json.Decoder(Request)
_commands = msgspec.json.Decoder(Command)
_events = msgspec.json.Decoder(Event)


def encode(message: Request | Command | Event) -> bytes:
    """One line."""
    return _encoder.encode(message) + b"\n"


def decode_request(line: bytes) -> Request:
    """The request in ``line``. Raises msgspec.DecodeError."""
    return _requests.decode(line)


def decode_command(line: bytes) -> Command | None:
    """The command in ``line``; None when it is none."""
    try:
        return _commands.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def decode_event(line: bytes) -> Event | None:
    """The event in ``line``; None when it is none."""
    try:
        return _events.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def failed(error: VrambleError) -> Failed:
    """Terminal event for ``error``."""
    return Failed(code=error.code, message=error.message, next_step=error.next_step, detail=error.detail)
