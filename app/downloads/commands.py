"""``vramble pull``: get a model from the Hub."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from app.downloads.speed import SpeedMeter
from app.paths import find_paths
from engine.downloads.client import events
from engine.downloads.messages import Event, Failed, Fetch, Fetched, Listed, ListRepo, Note, Progress, Request, Waiting
from engine.library.listing import RepoListing, choose
from engine.library.names import shown
from engine.library.sizes import size_text

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

WORDS = {"checking": "checking what was downloaded"}
"""Stages that are not called as they are named."""


def add_parser(subparsers: Subparsers) -> None:
    """Add ``pull``."""
    parser = subparsers.add_parser(
        "pull",
        help="get a model from the Hub",
        description="Download a model into the models folder. Interrupted downloads go on where they stopped.",
    )
    parser.add_argument("repo", metavar="REPO", help="owner/repository, or the address of its page or of a file")
    parser.add_argument("file", metavar="FILE", nargs="?", help="file or quantisation, such as Q4_K_M")
    parser.add_argument("--json", action="store_true", help="print JSON: path, bytes, sha256, verified")
    parser.set_defaults(func=pull)


def pull(arguments: argparse.Namespace) -> int:
    """Run the command. Raises VrambleError for everything the Hub or the disk refuses."""
    say = Terminal(sys.stderr)
    listing = _list(arguments.repo)
    file, why = choose(listing, arguments.file or listing.wanted)
    if why:
        say.line(why)
    request = Fetch(
        models=os.fsencode(find_paths().models),
        repo=listing.repo,
        files=file.parts,
        revision=listing.revision,
    )
    done = _fetch(request, say)
    _print(done, as_json=arguments.json)
    return 0


def _last(request: Request, each: Callable[[Event], None]) -> Event:
    event: Event = Failed(code="download-died", message="The download process gave no result.")
    for event in events(request):
        each(event)
    return event


def _list(text: str) -> RepoListing:
    last = _last(ListRepo(text=text), lambda _: None)
    if isinstance(last, Listed):
        return last.listing
    assert isinstance(last, Failed)
    raise last.error()


def _fetch(request: Fetch, say: Terminal) -> Fetched:
    try:
        last = _last(request, say.show)
    finally:
        say.end()
    if isinstance(last, Fetched):
        return last
    assert isinstance(last, Failed)
    raise last.error()


def _print(done: Fetched, *, as_json: bool) -> None:
    path = Path(os.fsdecode(done.path))
    if as_json:
        facts = {"path": shown(path), "bytes": done.size, "sha256": done.sha256, "verified": done.verified}
        print(json.dumps(facts, ensure_ascii=False))
        return
    checked = "checked" if done.verified else "the Hub gave no checksum to compare with"
    print(f"{shown(path)}  {size_text(done.size)}  {checked}")


class Terminal:
    """Progress as one line that is rewritten; without a terminal only what is worth keeping in a log."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._clock = clock
        self._meter = SpeedMeter()
        self._width = 0

    def line(self, text: str) -> None:
        """A line that stays."""
        self.end()
        print(text, file=self._stream, flush=True)

    def show(self, event: Event) -> None:
        """Follow ``event``."""
        if isinstance(event, Note):
            self.line(event.text)
        elif isinstance(event, Waiting):
            self.line(f"{event.reason} Trying again in {event.seconds:.0f} s.")
            self._meter.clear()
        elif isinstance(event, Progress) and self._live:
            self._rewrite(self._progress(event))

    def end(self) -> None:
        """Leave the line that is being rewritten."""
        if self._width:
            print(file=self._stream)
            self._width = 0

    def _progress(self, event: Progress) -> str:
        now = self._clock()
        if event.stage == "loading":
            self._meter.add(now, event.done)
        text = f"{WORDS.get(event.stage, event.stage)}  {size_text(event.done)}"
        if event.total:
            text += f" of {size_text(event.total)}  {100 * event.done / event.total:.0f} %"
        speed = self._meter.speed(now) if event.stage == "loading" else None
        return f"{text}  {speed / 1e6:.1f} MB/s" if speed else text

    def _rewrite(self, text: str) -> None:
        self._stream.write("\r" + text.ljust(self._width))
        self._stream.flush()
        self._width = len(text)
