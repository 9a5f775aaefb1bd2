"""``vramble search``: GGUF repositories on the Hub, and the models that the program recommends."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from app.downloads.settings import DownloadSettings, network_environment
from app.paths import find_paths
from app.settings.saved import saved
from engine.hub.catalogue import catalogue_file, read_catalogue
from engine.hub.client import ask
from engine.hub.messages import Failed, Found, Search
from engine.hub.records import CatalogueModel, Gate, RepoSummary, SearchQuery, Sort
from engine.library.sizes import size_text

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

WEIGHTS = re.compile(r"(\d{1,4}(?:\.\d{1,3})?)\s*([bm])", re.IGNORECASE)
FACTOR = {"b": 10**9, "m": 10**6}
MOST = 500


def add_parser(subparsers: Subparsers) -> None:
    """Add ``search``."""
    parser = subparsers.add_parser(
        "search",
        help="find models on the Hub",
        description="Search the Hub for repositories with GGUF files. What it said is kept for ten minutes, "
        "and shown when it cannot be reached. Offline mode, mirror and proxy are those of the settings.",
    )
    parser.add_argument("text", metavar="TEXT", nargs="*", help="words of the repository's name")
    parser.add_argument("--author", default="", help="user or organisation")
    parser.add_argument("--sort", choices=[sort.value for sort in Sort], default=Sort.DOWNLOADS.value)
    parser.add_argument("--min", type=weights, metavar="SIZE", help="least number of weights, such as 500M or 3B")
    parser.add_argument("--max", type=weights, metavar="SIZE", help="greatest number of weights, such as 9B")
    parser.add_argument("--arch", default="", metavar="NAME", help="architecture as in the file, such as qwen3")
    parser.add_argument("--licence", default="", metavar="NAME", help="such as apache-2.0")
    parser.add_argument("--language", default="", metavar="CODE", help="such as de")
    gated = parser.add_mutually_exclusive_group()
    gated.add_argument("--gated", action="store_true", default=None, help="only gated repositories")
    gated.add_argument("--open", action="store_false", dest="gated", help="only repositories without terms to accept")
    parser.add_argument("--limit", type=limit, default=20, metavar="N", help=f"rows, at most {MOST} (default: 20)")
    parser.add_argument("--offline", action="store_true", help="answer from what was kept, without the network")
    parser.add_argument("--fresh", action="store_true", help="ask even if an answer was kept a moment ago")
    parser.add_argument("--catalogue", action="store_true", help="look in the models that are recommended instead")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(func=search)


def weights(text: str) -> int:
    """``3B``, ``500M``. Raises ValueError, which argparse tells."""
    found = WEIGHTS.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return int(float(found[1]) * FACTOR[found[2].lower()])


def limit(text: str) -> int:
    """A number of rows. Raises ValueError."""
    count = int(text)
    if not 1 <= count <= MOST:
        raise ValueError(text)
    return count


def search(arguments: argparse.Namespace) -> int:
    """Run the command. Raises VrambleError for everything the Hub refuses."""
    if arguments.catalogue:
        return _print_catalogue(arguments.text, as_json=arguments.json)
    query = SearchQuery(
        text=" ".join(arguments.text),
        author=arguments.author,
        sort=Sort(arguments.sort),
        smallest=arguments.min,
        largest=arguments.max,
        architecture=arguments.arch,
        licence=arguments.licence,
        language=arguments.language,
        gated=arguments.gated,
    )
    rows, last = _rows(query, arguments)
    if last.problem is not None:
        print(f"vramble: {last.problem.message} These rows were kept from earlier.", file=sys.stderr)
    if arguments.json:
        print(json.dumps(_document(rows, last), ensure_ascii=False, indent=2))
    elif rows:
        print(_table(("REPOSITORY", "WEIGHTS", "ARCH", "LICENCE", "DOWNLOADS", "UPDATED", ""), map(_cells, rows)))
    else:
        print("No repository was found.")
    return 0


def _rows(query: SearchQuery, arguments: argparse.Namespace) -> tuple[list[RepoSummary], Found]:
    """As many pages as the limit needs."""
    paths = find_paths()
    environ = network_environment(saved(paths.settings, DownloadSettings), os.environ)
    rows: dict[str, RepoSummary] = {}
    cursor = ""
    while True:
        request = Search(id=1, query=query, cursor=cursor, fresh=arguments.fresh, offline=arguments.offline)
        event = ask(paths.cache / "hub", request, environ)
        if isinstance(event, Failed):
            raise event.error()
        assert isinstance(event, Found)
        rows.update({row.repo: row for row in event.page.rows})
        cursor = event.page.cursor
        if not cursor or len(rows) >= arguments.limit:
            return list(rows.values())[: arguments.limit], event


def _document(rows: Sequence[RepoSummary], last: Found) -> dict[str, Any]:
    return {
        "results": [
            {
                "repo": row.repo,
                "parameters": row.n_params,
                "architecture": row.architecture or None,
                "context_length": row.context_length,
                "licence": row.licence or None,
                "languages": list(row.languages),
                "gated": row.gate.value,
                "downloads": row.downloads,
                "likes": row.likes,
                "updated": _day(row.updated),
            }
            for row in rows
        ],
        "from_cache": last.kept,
        "more": bool(last.page.cursor),
    }


def _cells(row: RepoSummary) -> Sequence[str]:
    downloads = "-" if row.downloads is None else f"{row.downloads:,}"
    gated = "" if row.gate is Gate.OPEN else "gated"
    return (
        row.repo,
        _count(row.n_params),
        row.architecture or "-",
        row.licence or "-",
        downloads,
        _day(row.updated) or "-",
        gated,
    )


def _count(number: int | None) -> str:
    if number is None:
        return "-"
    return f"{number / 1e9:.1f}B" if number >= 10**9 else f"{number / 1e6:.0f}M"


def _day(moment: float | None) -> str | None:
    return None if moment is None else datetime.fromtimestamp(moment, UTC).date().isoformat()


def _print_catalogue(words: Sequence[str], *, as_json: bool) -> int:
    wanted = " ".join(words).lower().split()
    models = [
        model
        for model in read_catalogue(catalogue_file())
        if all(word in f"{model.name} {model.repo}".lower() for word in wanted)
    ]
    if as_json:
        print(msgspec.json.format(msgspec.json.encode({"models": models}), indent=2).decode())
        return 0
    if not models:
        print("No recommended model has that name. Search the Hub without --catalogue.")
        return 0
    print(_table(("MODEL", "SIZE", "SUITS", "", "VRAMBLE PULL"), map(_model_cells, models)))
    return 0


def _model_cells(model: CatalogueModel) -> Sequence[str]:
    deck = "Deck" if model.deck else ""
    return model.name, size_text(model.size), f"{model.memory_gib} GiB", deck, f"{model.repo} {model.file}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
