"""The part of the local Hub that is searched: pages of results, and what can go wrong with any answer of its API."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

if TYPE_CHECKING:
    from http.server import BaseHTTPRequestHandler

    from tests.fakes.local_hub import Refusal

ALWAYS = ("id", "modelId", "_id")
"""Fields that are told without being asked for."""

SHORT = {"M": 10**6, "B": 10**9}

HELD_S = 600
"""Longest pause of a body: longer than any test takes, so that nothing comes before a test lets it."""


def row(repo: str, **fields: Any) -> dict[str, Any]:
    """A repository as the API tells it, with usual values for what is not given."""
    number = sum(repo.encode())
    return {
        "id": repo,
        "downloads": number,
        "likes": number % 97,
        "lastModified": f"2026-0{number % 9 + 1}-02T10:00:00.000Z",
        "createdAt": "2025-03-02T10:00:00.000Z",
        "trendingScore": number % 13,
        "gated": False,
        "private": False,
        "pipeline_tag": "text-generation",
        "tags": ["gguf", "en", "license:apache-2.0", "region:us"],
        "gguf": {"total": 8 * 10**9, "architecture": "llama", "context_length": 8192},
        **fields,
    }


@dataclass
class HubPages:
    """Knobs of the API. ``rows`` is what there is; an item may be any JSON."""

    rows: list[Any] = field(default_factory=list)
    refusal: Refusal | None = None
    raw: bytes | None = None
    """Sent in place of a page of results."""
    link_host: str = ""
    """The host that the next page is said to be at."""
    redirect: str = ""
    """Searches are sent there."""
    latency_s: float = 0.0
    """Before each answer of this Hub, files too."""
    cut_after: int | None = None
    """Close the connection after so many bytes of an API answer."""
    cut_times: int | None = None
    hold_after: int | None = None
    """Send nothing more after so many bytes until `release`."""
    ignored: set[str] = field(default_factory=set)
    """Parameters that this Hub does not know."""
    queries: list[dict[str, list[str]]] = field(default_factory=list)
    """What searches asked, in order."""
    _gate: threading.Event = field(default_factory=threading.Event)

    def release(self) -> None:
        """Let held answers go on."""
        self._gate.set()

    def serve(self, handler: Any) -> None:
        """Answer a search."""
        asked: dict[str, list[str]] = {}
        for name, value in parse_qsl(urlsplit(handler.path).query, keep_blank_values=True):
            asked.setdefault(name, []).append(value)
        self.queries.append(asked)
        if self.redirect:
            handler._send_empty(307, {"Location": self.redirect + urlsplit(handler.path).query})
        elif self.refusal is not None and self.refusal.take():
            handler._refuse(self.refusal)
        elif self.raw is not None:
            handler._send_json(self.raw)
        else:
            rows, following = self._page(asked)
            base = self.link_host or handler.server.owner.url
            link = f'<{base}/api/models?{urlencode(following, doseq=True)}>; rel="next"' if following else ""
            handler._send_json(rows, {"Link": link} if link else {})

    def send(self, handler: BaseHTTPRequestHandler, data: bytes) -> None:
        """Send the body of an API answer, as the knobs say."""
        if self.cut_after is not None and (self.cut_times is None or self.cut_times > 0):
            self.cut_times = None if self.cut_times is None else self.cut_times - 1
            handler.wfile.write(data[: self.cut_after])
            handler.close_connection = True
            return
        first = len(data) if self.hold_after is None else self.hold_after
        handler.wfile.write(data[:first])
        if first < len(data):
            handler.wfile.flush()
            self._gate.wait(HELD_S)
            handler.wfile.write(data[first:])

    def _page(self, asked: dict[str, list[str]]) -> tuple[list[Any], dict[str, list[str]]]:
        found = [one for one in self.rows if not isinstance(one, dict) or self._fits(one, asked)]
        key = asked.get("sort", ["trendingScore"])[0]
        found.sort(key=lambda one: _rank(one, key), reverse=True)
        start, limit = int(asked.get("cursor", ["0"])[0]), int(asked.get("limit", ["1000"])[0])
        rows = [_told(one, asked.get("expand")) for one in found[start : start + limit]]
        return rows, {**asked, "cursor": [str(start + limit)]} if start + limit < len(found) else {}

    def _fits(self, one: dict[str, Any], asked: dict[str, list[str]]) -> bool:
        repo = str(one.get("id", ""))
        told = {name: values for name, values in asked.items() if name not in self.ignored}
        tags = one.get("tags") or []
        return (
            all(tag in tags for tag in told.get("filter", ()))
            and told.get("author", [repo.partition("/")[0]])[0] == repo.partition("/")[0]
            and all(word in repo.lower() for word in told.get("search", [""])[0].lower().split())
            and told.get("gated", [_word(one)])[0] == _word(one)
            and _in_range(one, told.get("num_parameters", [""])[0])
        )


def _rank(one: Any, key: str) -> tuple[str, float]:
    value = one.get(key) if isinstance(one, dict) else None
    return (value, 0.0) if isinstance(value, str) else ("", float(value or 0))


def _told(one: Any, fields: list[str] | None) -> Any:
    if fields is None or not isinstance(one, dict):
        return one
    return {name: value for name, value in one.items() if name in (*ALWAYS, *fields)}


def _word(one: dict[str, Any]) -> str:
    return "true" if one.get("gated") else "false"


def _in_range(one: dict[str, Any], text: str) -> bool:
    total = (one.get("gguf") or {}).get("total")
    ends = dict(part.split(":") for part in text.split(",") if part)
    values = {name: float(end.rstrip("MB")) * SHORT.get(end[-1:], 1) for name, end in ends.items()}
    return total is None or values.get("min", 0) <= total <= values.get("max", float("inf"))


def encoded(value: object) -> bytes:
    """JSON, unless it is bytes already."""
    return value if isinstance(value, bytes) else json.dumps(value).encode()
