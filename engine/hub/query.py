"""What a search asks the Hub, and which of its answers it keeps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from engine.hub.records import Gate, RepoSummary, SearchQuery, Sort

PAGE: Final = 30
"""Rows of a page. The Hub sends each row's chat template as well, so more would be slow on a phone's line."""

WIDE_PAGE: Final = 100
"""The same where rows are left out here, because the Hub does not know the filter."""

EXPAND: Final = (
    "downloads", "likes", "lastModified", "createdAt", "gated", "private", "pipeline_tag", "tags", "gguf",
)  # fmt: skip

SORTS: Final = {
    Sort.TRENDING: "trendingScore",
    Sort.DOWNLOADS: "downloads",
    Sort.LIKES: "likes",
    Sort.UPDATED: "lastModified",
    Sort.CREATED: "createdAt",
}

BILLION: Final = 10**9


def normalised(query: SearchQuery) -> SearchQuery:
    """The same question, always written in the same way."""
    return SearchQuery(
        text=" ".join(query.text.split())[:200],
        author=query.author.strip()[:100],
        sort=query.sort,
        smallest=query.smallest or None,
        largest=query.largest,
        architecture=query.architecture.strip().lower(),
        licence=query.licence.strip().lower(),
        language=query.language.strip().lower(),
        gated=query.gated,
    )


def parameters(query: SearchQuery) -> list[tuple[str, str]]:
    """The first page's query string, as the Hub's own client writes it.

    The number of weights is rounded outwards to whole billions, which the Hub understands; `keeps` does the rest.
    """
    found = [("filter", "gguf")]
    if query.licence:
        found.append(("filter", f"license:{query.licence}"))
    if query.language:
        found.append(("filter", query.language))
    if query.author:
        found.append(("author", query.author))
    if query.gated is not None:
        found.append(("gated", "true" if query.gated else "false"))
    if sizes := _sizes(query):
        found.append(("num_parameters", sizes))
    if query.text:
        found.append(("search", query.text))
    found.append(("sort", SORTS[query.sort]))
    found.append(("limit", str(WIDE_PAGE if query.architecture else PAGE)))
    return found + [("expand", name) for name in EXPAND]


def _sizes(query: SearchQuery) -> str:
    ends = []
    if query.smallest is not None and query.smallest >= BILLION:
        ends.append(f"min:{query.smallest // BILLION}B")
    if query.largest is not None:
        ends.append(f"max:{-(-query.largest // BILLION)}B")
    return ",".join(ends)


def keeps(query: SearchQuery, row: RepoSummary) -> bool:
    """Whether a row of the Hub's answer is wanted. What the Hub does not tell is no reason to leave a row out."""
    if query.architecture and row.architecture.lower() != query.architecture:
        return False
    if row.n_params is None:
        return True
    return (query.smallest or 0) <= row.n_params <= (row.n_params if query.largest is None else query.largest)


def matches(query: SearchQuery, row: RepoSummary) -> bool:
    """Whether a row that was kept earlier answers ``query``: what the Hub would have decided."""
    words = query.text.lower().split()
    return (
        keeps(query, row)
        and all(word in row.repo.lower() for word in words)
        and query.author.lower() in ("", row.author.lower())
        and query.licence in ("", row.licence.lower())
        and (not query.language or query.language in row.languages)
        and query.gated in (None, row.gate is not Gate.OPEN)
    )


def in_order(sort: Sort, rows: Iterable[RepoSummary]) -> list[RepoSummary]:
    """Kept rows in the wanted order; what is trending is not known any more, downloads come nearest."""

    def key(row: RepoSummary) -> float:
        told = {
            Sort.LIKES: row.likes,
            Sort.UPDATED: row.updated,
            Sort.CREATED: row.created,
        }.get(sort, row.downloads)
        return -(told or 0)

    return sorted(rows, key=key)
