"""Answers of the hub child: from the Hub, from what was kept of it, or from both."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl, quote

import msgspec

from engine.errors import VrambleError
from engine.hub.card import plain_card
from engine.hub.grouping import groups_of
from engine.hub.hub_client import HubClient
from engine.hub.kept import Kept
from engine.hub.messages import Event, Found, Open, Opened, Search, failed
from engine.hub.parsing import gate, summary_of
from engine.hub.query import in_order, keeps, matches, normalised, parameters
from engine.hub.records import RepoPage, RepoSummary, SearchPage, SearchQuery
from engine.library.address import RepoRef, parse_repo
from engine.library.hub_errors import HubError, nonsense, not_kept, switched_off
from engine.library.listing import choose, parse_listing

RECENT_S: Final = 600.0
"""For so long a kept answer is as good as a new one."""

ENOUGH: Final = 10
MOST_PAGES: Final = 5
"""A search whose filter leaves rows out asks for further pages until it has enough, but no more often than this."""

FINAL: Final = {
    "hub-no-repo", "hub-no-revision", "hub-bad-token", "hub-gated", "hub-not-accepted", "hub-forbidden",
}  # fmt: skip
"""The Hub knows better than what was kept."""

MOST_KEPT: Final = 500
"""Rows of a search in what was kept."""


class Finder:
    """Answers searches and opens repositories. Errors become answers too."""

    def __init__(self, client: HubClient, kept: Kept, now: Callable[[], float] = time.time) -> None:
        self._client, self._kept, self._now = client, kept, now

    async def answer(self, request: Search | Open) -> Event:
        """The one answer to ``request``. Who wants a fresh one may have signed in meanwhile."""
        if request.fresh:
            self._client.forget_headers()
        try:
            return await (self._search(request) if isinstance(request, Search) else self._open(request))
        except VrambleError as error:
            return failed(request.id, error)

    # ---- searching

    async def _search(self, request: Search) -> Event:
        query = normalised(request.query)
        key = self._kept.search_key(query, request.cursor)
        kept = self._kept.read(key, SearchPage)
        if request.offline:
            return Found(id=request.id, page=self._known(query, kept), kept=True)
        if kept is not None and not request.fresh and self._is_recent(kept.read_at):
            return Found(id=request.id, page=kept, kept=True)
        try:
            page = await self._ask(query, request.cursor)
        except HubError as error:
            if request.cursor and kept is None:
                raise
            known = kept if request.cursor and kept is not None else self._known(query, kept)
            if not known.rows:
                raise
            return Found(id=request.id, page=known, kept=True, problem=failed(request.id, error))
        self._kept.write(key, page)
        return Found(id=request.id, page=page)

    async def _ask(self, query: SearchQuery, cursor: str) -> SearchPage:
        rows: list[RepoSummary] = []
        asked = 0
        while asked < MOST_PAGES:
            wanted = parse_qsl(cursor, keep_blank_values=True) if cursor else parameters(query)
            data, cursor = await self._client.json("/api/models", wanted)
            if not isinstance(data, list):
                raise nonsense(self._client.endpoint)
            found = [row for item in data if (row := summary_of(item)) is not None]
            rows += [row for row in found if keeps(query, row)]
            asked += 1
            if not cursor or len(rows) >= ENOUGH:
                break
        return SearchPage(rows=tuple(rows), cursor=cursor, read_at=self._now())

    def _known(self, query: SearchQuery, kept: SearchPage | None) -> SearchPage:
        """What is known without asking: the kept answer to this very question first, then all that matches it."""
        first = kept.rows if kept is not None else ()
        names = {row.repo for row in first}
        others = [row for row in self._kept.summaries() if row.repo not in names and matches(query, row)]
        rows = (*first, *in_order(query.sort, others))[:MOST_KEPT]
        return SearchPage(rows=rows, read_at=kept.read_at if kept is not None else 0.0)

    # ---- repositories

    async def _open(self, request: Open) -> Event:
        ref = parse_repo(request.text)
        key = self._kept.repo_key(ref.repo, ref.revision)
        kept = self._kept.read(key, RepoPage)
        if kept is not None and (request.offline or (not request.fresh and self._is_recent(kept.read_at))):
            return Opened(id=request.id, page=_pointed(kept, ref), kept=True)
        if request.offline:
            raise not_kept(switched_off(), ref.repo)
        try:
            page = await self._read(ref)
        except HubError as error:
            if kept is None or error.code in FINAL:
                raise
            return Opened(id=request.id, page=_pointed(kept, ref), kept=True, problem=failed(request.id, error))
        self._kept.write(key, page)
        return Opened(id=request.id, page=_pointed(page, ref))

    async def _read(self, ref: RepoRef) -> RepoPage:
        revision = quote(ref.revision, safe="")
        path = f"/api/models/{ref.repo}" + ("" if ref.revision == "main" else f"/revision/{revision}")
        card = asyncio.create_task(self._client.text(f"/{ref.repo}/resolve/{revision}/README.md", ref.repo))
        try:
            data, _ = await self._client.json(path, [("blobs", "true")], ref.repo)
            if not isinstance(data, Mapping):
                raise nonsense(self._client.endpoint)
            return self._page(ref, data, await _or_nothing(card))
        finally:
            card.cancel()

    def _page(self, ref: RepoRef, data: Mapping[str, object], card: str) -> RepoPage:
        listing = parse_listing(ref.repo, data, ref.revision)
        summary = summary_of(data) or RepoSummary(repo=listing.repo, gate=gate(data.get("gated")))
        text, cut = plain_card(card, f"{self._client.endpoint}/{listing.repo}", ref.revision)
        return RepoPage(
            summary=summary,
            listing=listing,
            groups=groups_of(listing, summary.n_params),
            companions=tuple(file for file in listing.files if file.companion),
            card=text,
            card_cut=cut,
            read_at=self._now(),
        )

    def _is_recent(self, then: float) -> bool:
        return 0 <= self._now() - then < RECENT_S


async def _or_nothing(card: asyncio.Task[str]) -> str:
    """The card's text; a repository without one, or one that cannot be read, still has its files."""
    try:
        return await card
    except HubError as error:
        sys.stderr.write(f"no model card: {error.code} {error.detail}\n")
        return ""


def _pointed(page: RepoPage, ref: RepoRef) -> RepoPage:
    """``page`` with the file that the address named, when it is there."""
    wanted: str | None = None
    if ref.wanted is not None:
        try:
            wanted = choose(page.listing, ref.wanted)[0].path
        except VrambleError:
            wanted = None
    return msgspec.structs.replace(page, listing=msgspec.structs.replace(page.listing, wanted=wanted))
