"""Requests of the hub child, several at the same time, through huggingface_hub's asynchronous client.

Redirects are followed by hand: the token goes to the Hub's own address and to no other. Every answer has a limit of
bytes and of time, so that a server that drips or floods ends in a sentence.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Final
from urllib.parse import urljoin, urlsplit

import msgspec

from engine.library import hub
from engine.library.hub_errors import Asked, HubError, broken_off, nonsense, offline, refused, stalled, unreachable

if TYPE_CHECKING:
    import httpx2

MAX_HOPS: Final = 6
HEADERS_LAST_S: Final = 20.0
"""How long a token is used before it is looked up again: somebody may sign in while the child runs."""

Parameters = Sequence[tuple[str, str]]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Patience in seconds, and bytes of an answer, unpacked."""

    connect_s: float = 10.0
    stall_s: float = 15.0
    whole_s: float = 45.0
    retry_s: float = 0.5
    json_bytes: int = 32 * 1024 * 1024
    card_bytes: int = 2 * 1024 * 1024


class Answer(msgspec.Struct, frozen=True):
    """What came back: the body, and the query string of the next page (empty: there is none)."""

    body: bytes
    following: str = ""


class HubClient:
    """Asks one Hub. The client opens with the first request and has to be closed."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.endpoint = hub.endpoint()
        self.limits = limits or Limits()
        self._stack = AsyncExitStack()
        self._client: httpx2.AsyncClient | None = None
        self._headers: tuple[float, dict[str, str]] | None = None

    async def close(self) -> None:
        """End all connections."""
        await self._stack.aclose()

    async def json(self, path: str, parameters: Parameters, repo: str = "") -> tuple[object, str]:
        """The JSON at ``path`` and the query string of its next page.

        Raises:
            HubError: The Hub refused, was not reached, or answered what is no JSON.
        """
        answer = await self._patiently(path, parameters, repo, self.limits.json_bytes)
        try:
            return json.loads(answer.body), answer.following
        except (ValueError, RecursionError):
            raise nonsense(self.endpoint) from None

    async def text(self, path: str, repo: str) -> str:
        """The text at ``path``. Raises HubError."""
        answer = await self._patiently(path, (), repo, self.limits.card_bytes, cut=True)
        return answer.body.decode("utf-8", "replace")

    async def _patiently(self, path: str, parameters: Parameters, repo: str, most: int, *, cut: bool = False) -> Answer:
        """Ask, and once more when the Hub stumbled. Who asks too often is told when to come back instead."""
        try:
            return await self._in_time(path, parameters, repo, most, cut)
        except HubError as error:
            if not error.retryable or error.retry_after is not None or error.code == "hub-rate-limited":
                raise
        await asyncio.sleep(self.limits.retry_s)
        return await self._in_time(path, parameters, repo, most, cut)

    async def _in_time(self, path: str, parameters: Parameters, repo: str, most: int, cut: bool) -> Answer:
        import httpx2
        from huggingface_hub.errors import OfflineModeIsEnabled

        try:
            async with asyncio.timeout(self.limits.whole_s):
                return await self._ask(self.endpoint + path, parameters, repo, most, cut)
        except OfflineModeIsEnabled:
            raise offline(self.endpoint) from None
        except (httpx2.ReadTimeout, TimeoutError):
            raise stalled(self.limits.stall_s) from None
        except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.DecodingError) as error:
            raise broken_off(f"{type(error).__name__}: {error}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:  # an address may be no address at all
            raise unreachable(self.endpoint, f"{type(error).__name__}: {error}") from None

    async def _ask(self, url: str, parameters: Parameters, repo: str, most: int, cut: bool) -> Answer:
        client = await self._open()
        for hop in range(MAX_HOPS):
            own = hub.origin(url) == hub.origin(self.endpoint)
            headers = await self._own_headers() if own else {}
            request = client.build_request("GET", url, params=None if hop else list(parameters), headers=headers)
            answer = await client.send(request, stream=True, follow_redirects=False)
            try:
                place = answer.headers.get("Location") if answer.has_redirect_location else None
                if place is None:
                    self._check(answer, repo, own, signed_in=hub.signed_in(headers))
                    return Answer(await self._body(answer, most, cut), _following(answer))
                url = self._next(url, place)
            finally:
                await answer.aclose()
        raise nonsense(self.endpoint)

    async def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            import httpx2
            from huggingface_hub import get_async_session

            client = get_async_session()
            client.timeout = httpx2.Timeout(self.limits.stall_s, connect=self.limits.connect_s)
            self._client = await self._stack.enter_async_context(client)
        return self._client

    async def _own_headers(self) -> dict[str, str]:
        """With the token, which may have to be waited for: a keyring asks its user."""
        now = time.monotonic()
        if self._headers is None or now - self._headers[0] > HEADERS_LAST_S:
            found = await asyncio.to_thread(hub.headers)
            self._headers = (now, {name: value for name, value in found.items() if name != "Accept-Encoding"})
        return self._headers[1]

    def forget_headers(self) -> None:
        """Look the token up again for the next request."""
        self._headers = None

    def _check(self, answer: httpx2.Response, repo: str, own: bool, *, signed_in: bool) -> None:
        if answer.status_code < 400:
            return
        if not own:
            raise unreachable(self.endpoint, f"HTTP {answer.status_code} from {answer.request.url.host}")
        raise refused(Asked(self.endpoint, repo, signed_in=signed_in), answer.status_code, answer.headers)

    async def _body(self, answer: httpx2.Response, most: int, cut: bool) -> bytes:
        found = bytearray()
        async for chunk in answer.aiter_bytes():
            found += chunk
            if len(found) > most:
                if cut:
                    break
                raise nonsense(self.endpoint)
        return bytes(found[:most])

    def _next(self, url: str, place: str) -> str:
        target = urljoin(url, place)
        if urlsplit(target).scheme not in {"https", urlsplit(url).scheme}:
            raise nonsense(self.endpoint)
        return target


def _following(answer: httpx2.Response) -> str:
    """The query string of the next page. Where it leads is not used: a mirror names the original's address there."""
    place = answer.links.get("next", {}).get("url") or ""
    try:
        return urlsplit(place).query[:8000]
    except ValueError:
        return ""
