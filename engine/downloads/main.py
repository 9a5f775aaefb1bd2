"""The download child: one request, its events, the end."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable

import msgspec

from engine.downloads.channel import Channel
from engine.downloads.fetch import Fetcher
from engine.downloads.headers import HeaderFetcher
from engine.downloads.messages import (
    CheckToken,
    Command,
    Event,
    Failed,
    Fetch,
    FetchHeaders,
    Listed,
    Request,
    TokenChecked,
    decode_request,
    failed,
)
from engine.downloads.meter import Report
from engine.downloads.whoami import whose
from engine.errors import VrambleError
from engine.library import hub

Follow = Callable[[Callable[[Command], None]], None]


def main() -> int:
    """Entry point of ``python -P -m engine.downloads`` and ``vramble --download``.

    SIGTERM, SIGINT and the end of stdin end it at once and leave the partial file as it is.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    channel = Channel()
    line = channel.read_line()
    if not line:
        return 0
    try:
        request = decode_request(line)
    except msgspec.DecodeError as error:
        channel.send(Failed(code="bad-request", message="The request was not understood.", detail=str(error)))
        return 2
    last = answer(request, channel.send, channel.follow)
    channel.send(last)
    return 1 if isinstance(last, Failed) else 0


def ignore(_command: Callable[[Command], None]) -> None:
    """Nobody gives commands."""


def answer(request: Request, report: Report, follow: Follow = ignore) -> Event:
    """Do ``request``, report on the way and give the terminal event. ``follow`` is told who takes commands."""
    try:
        if isinstance(request, Fetch):
            fetcher = Fetcher(request, report)
            follow(fetcher.take)
            return fetcher.run()
        follow(lambda _command: None)
        if isinstance(request, FetchHeaders):
            return HeaderFetcher(request, report).run()
        if isinstance(request, CheckToken):
            return TokenChecked(name=whose(request.token, request.timeout_s))
        return Listed(listing=hub.list_files(request.text, request.timeout_s))
    except VrambleError as error:
        return failed(error)
    except ImportError as error:
        sys.stderr.write(f"{error}\n")
        return Failed(code="no-client", message="The Hub client is not installed.", detail=str(error))


if __name__ == "__main__":
    sys.exit(main())
