"""``vramble pull``, ``repair`` and ``login``."""

from __future__ import annotations

import argparse
import getpass
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.downloads.settings import DownloadSettings, network_environment
from app.downloads.terminal import Terminal
from app.paths import find_paths
from app.settings.saved import saved
from engine.downloads.client import events
from engine.downloads.messages import CheckToken, Event, Failed, Fetch, Fetched, Listed, ListRepo, Request, TokenChecked
from engine.downloads.token import TokenSource, account_of, forget_token, keep_token, token_source
from engine.errors import VrambleError
from engine.library.argument import HELP, find_model_file
from engine.library.hub import DEFAULT_ENDPOINT
from engine.library.listing import FilePart, RepoListing, choose
from engine.library.names import shard_name, shard_of, shown
from engine.library.origin import read_origin
from engine.library.sizes import size_text
from engine.loading.getting_back import way_without_origin

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["Terminal", "add_login", "add_parser", "add_repair"]

SOURCES = {
    TokenSource.NONE: "no token is known",
    TokenSource.ENVIRONMENT: "the token of the environment (HF_TOKEN) is used",
    TokenSource.KEYRING: "the token is in the keyring",
    TokenSource.FILE: "the token is in a file that only you can read",
    TokenSource.HUB_CLIENT: "the token of the Hub's own client is used",
}


def add_parser(subparsers: Subparsers) -> None:
    """Add ``pull``."""
    parser = subparsers.add_parser(
        "pull",
        help="get a model from the Hub",
        description="Download a model into the models folder. Interrupted downloads go on where they stopped.",
    )
    parser.add_argument("repo", metavar="REPO", help="owner/repository, or the address of its page or of a file")
    parser.add_argument("file", metavar="FILE", nargs="?", help="file or quantisation, such as Q4_K_M")
    _add_flags(parser)
    parser.set_defaults(func=pull)


def add_repair(subparsers: Subparsers) -> None:
    """Add ``repair``."""
    parser = subparsers.add_parser(
        "repair",
        help="mend a damaged model",
        description="Read a model that came from the Hub, and fetch again what is wrong in it and nothing else.",
    )
    parser.add_argument("model", metavar="MODEL", help=HELP)
    _add_flags(parser)
    parser.set_defaults(func=repair)


def add_login(subparsers: Subparsers) -> None:
    """Add ``login``."""
    parser = subparsers.add_parser(
        "login",
        help="keep an access token for gated repositories",
        description="Ask for an access token of the Hub and keep it in the keyring. It is never shown.",
    )
    parser.add_argument("--file", action="store_true", help="keep it in a file that only you can read instead")
    parser.add_argument("--forget", action="store_true", help="forget the token that is kept")
    parser.add_argument("--status", action="store_true", help="only say where a token is")
    parser.add_argument("--json", action="store_true", help="print JSON: hub, source, name")
    parser.set_defaults(func=login)


def _add_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--connections", type=int, metavar="N", help="connections for a large file (default: 4)")
    parser.add_argument("--limit", type=float, metavar="MB/S", help="take no more than so many MB a second")
    parser.add_argument("--json", action="store_true", help="print JSON: path, bytes, sha256, verified")


def pull(arguments: argparse.Namespace) -> int:
    """Run the command. Raises VrambleError for everything the Hub or the disk refuses."""
    say = Terminal(sys.stderr)
    settings = _settings()
    listing = _list(arguments.repo, settings)
    file, why = choose(listing, arguments.file or listing.wanted)
    if why:
        say.line(why)
    request = Fetch(
        models=os.fsencode(find_paths().models),
        repo=listing.repo,
        files=file.parts,
        revision=listing.revision,
    )
    _print(_fetch(_with_flags(request, arguments, settings), settings, say), as_json=arguments.json)
    return 0


def repair(arguments: argparse.Namespace) -> int:
    """Run the command. Raises VrambleError, among others when nobody knows where the model came from."""
    first = find_model_file(find_paths(), arguments.model)
    shard = shard_of(first.name)
    paths = [first.with_name(shard_name(shard, no)) for no in range(1, shard.total + 1)] if shard else [first]
    origins = [origin for path in paths if (origin := read_origin(path)) is not None and origin.repo]
    if len(origins) < len(paths):
        raise VrambleError(
            "no-origin",
            f"Nobody knows where {shown(first.name)} came from, so it cannot be mended.",
            way_without_origin(first),
        )
    settings = _settings()
    request = Fetch(
        models=os.fsencode(first.parent),
        repo=origins[0].repo,
        files=tuple(FilePart(path=one.path, size=one.size, sha256=one.sha256) for one in origins),
        revision=origins[0].commit or "main",
        create_root=False,
        repair=True,
        targets=tuple(os.fsencode(path) for path in paths),
    )
    done = _fetch(_with_flags(request, arguments, settings), settings, Terminal(sys.stderr))
    _print(done, as_json=arguments.json)
    return 0


def login(arguments: argparse.Namespace) -> int:
    """Run the command. The token comes from the terminal without being shown, or from standard input."""
    settings = _settings()
    hub = (network_environment(settings, os.environ).get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")
    if arguments.forget:
        forget_token(hub)
    elif not arguments.status:
        token = getpass.getpass("Access token: ") if sys.stdin.isatty() else sys.stdin.readline()
        last = _last(CheckToken(token=token.strip()), lambda _: None, settings)
        if not isinstance(last, TokenChecked):
            raise _error_of(last)
        keep_token(hub, token, last.name, in_file=arguments.file)
    source, name = token_source(hub), account_of(hub)
    if arguments.json:
        print(json.dumps({"hub": hub, "source": source.value, "name": name}, ensure_ascii=False))
        return 0
    print(f"{hub}: {SOURCES[source]}" + (f" ({name})" if name else ""))
    return 0


def _settings() -> DownloadSettings:
    """As the window keeps them, so that offline mode, mirror, proxy and limits are the same here."""
    return saved(find_paths().settings, DownloadSettings)


def _with_flags(request: Fetch, arguments: argparse.Namespace, settings: DownloadSettings) -> Fetch:
    limit = settings.limit_bytes_s if arguments.limit is None else max(1, int(arguments.limit * 1e6))
    connections = max(1, arguments.connections or settings.connections)
    return msgspec.structs.replace(request, connections=connections, limit_bytes_s=limit)


def _last(request: Request, each: Callable[[Event], None], settings: DownloadSettings) -> Event:
    event: Event = Failed(code="download-died", message="The download process gave no result.")
    for event in events(request, network_environment(settings, os.environ)):
        each(event)
    return event


def _list(text: str, settings: DownloadSettings) -> RepoListing:
    last = _last(ListRepo(text=text), lambda _: None, settings)
    if isinstance(last, Listed):
        return last.listing
    raise _error_of(last)


def _fetch(request: Fetch, settings: DownloadSettings, say: Terminal) -> Fetched:
    try:
        last = _last(request, say.show, settings)
    finally:
        say.end()
    if isinstance(last, Fetched):
        return last
    raise _error_of(last)


def _error_of(event: Event) -> VrambleError:
    assert isinstance(event, Failed)
    return event.error()


def _print(done: Fetched, *, as_json: bool) -> None:
    path = Path(os.fsdecode(done.path))
    if as_json:
        facts = {"path": shown(path), "bytes": done.size, "sha256": done.sha256, "verified": done.verified}
        print(json.dumps(facts, ensure_ascii=False))
        return
    checked = "checked" if done.verified else "the Hub gave no checksum to compare with"
    print(f"{shown(path)}  {size_text(done.size)}  {checked}")
