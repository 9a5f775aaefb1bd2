"""Two requests to the Hub: what is this file, and give me its bytes from here on.

Redirects are followed by hand. The token goes to the Hub's own address and to no other. Where a file's bytes lie is
remembered, so that the Hub is not asked again for each range, until that place refuses.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

import msgspec

from engine.downloads.body import Body, body_of
from engine.downloads.link import broken_off, stalled
from engine.downloads.messages import Limits
from engine.library import hub
from engine.library.hub_errors import (
    Asked,
    HubError,
    garbled,
    no_address,
    nonsense,
    odd_size,
    offline,
    refused,
    unreachable,
)

if TYPE_CHECKING:
    import httpx2

MAX_HOPS = 8
SHA256 = re.compile(r"[0-9a-f]{64}")
DIGITS = re.compile(r"[0-9]{1,18}")
LARGEST_FILE = 1 << 56
"""Bytes: a million times more than any model has."""


class RemoteFile(msgspec.Struct, frozen=True, kw_only=True):
    """What the Hub says about a file. None where it says nothing."""

    url: str
    commit: str | None
    etag: str | None
    size: int | None

    @property
    def sha256(self) -> str | None:
        """The Hub's tag of a large file is its sha256."""
        return self.etag if self.etag and SHA256.fullmatch(self.etag) else None


class HubHttp:
    """Requests for files of one repository."""

    def __init__(self, repo: str, limits: Limits) -> None:
        self._repo = repo
        self._limits = limits
        self._endpoint = hub.endpoint()
        self._headers = hub.headers()
        self._places: dict[str, str] = {}

    def resolve(self, revision: str, path: str) -> RemoteFile:
        """Ask for size, tag and commit. Raises HubError."""
        url = f"{self._endpoint}/{self._repo}/resolve/{quote(revision, safe='')}/{quote(path)}"
        for _ in range(MAX_HOPS):
            with self._send("HEAD", url, {}) as answer:
                self._check(answer, path)
                target = self._location(answer, url)
                if target is None or not self._is_hub(target):
                    return _remote_file(url, answer, path)
                url = target
        raise nonsense(self._endpoint)

    @contextlib.contextmanager
    def open(self, url: str, path: str, start: int, etag: str | None, end: int | None = None) -> Iterator[Body]:
        """The bytes of ``url`` from ``start``, up to ``end`` if that is given (and the server heeds it).

        ``etag`` is the strong tag that earlier bytes came with.
        """
        wanted = {"Range": f"bytes={start}-{'' if end is None else end - 1}"} if start or end else {}
        if start and etag and not etag.startswith("W/"):
            wanted["If-Range"] = etag
        with contextlib.ExitStack() as stack:
            answer = self._follow(stack, url, wanted, path)
            with self._network_errors():
                yield body_of(answer, self._limits.stall_s)

    def _follow(self, stack: contextlib.ExitStack, asked: str, wanted: dict[str, str], path: str) -> httpx2.Response:
        """The answer that holds the bytes of ``asked``: 200, 206 or 416."""
        url = self._places.pop(asked, asked)
        remembered = url != asked
        for _ in range(MAX_HOPS):
            answer = stack.enter_context(self._send("GET", url, wanted))
            target = self._location(answer, url)
            if target is None and answer.status_code >= 400 and answer.status_code != 416:
                if not remembered:
                    self._check(answer, path)
                target, remembered = asked, False
            if target is None:
                if url != asked:
                    self._places[asked] = url
                return answer
            answer.close()
            url = target
        raise nonsense(self._endpoint)

    @contextlib.contextmanager
    def _send(self, method: str, url: str, extra: dict[str, str]) -> Iterator[httpx2.Response]:
        import httpx2
        from huggingface_hub import get_session

        own = self._headers if self._is_hub(url) else {"Accept-Encoding": "identity"}
        timeout = httpx2.Timeout(self._limits.stall_s, connect=min(self._limits.connect_s, self._limits.stall_s))
        client = get_session()
        with self._network_errors(), self._bad_answers(url):
            request = client.build_request(method, url, headers={**own, **extra}, timeout=timeout)
            answer = client.send(request, stream=True, follow_redirects=False)
        try:
            yield answer
        finally:
            answer.close()

    @contextlib.contextmanager
    def _network_errors(self) -> Iterator[None]:
        import httpx2
        from huggingface_hub.errors import OfflineModeIsEnabled

        try:
            yield
        except OfflineModeIsEnabled:
            raise offline(self._endpoint) from None
        except httpx2.ReadTimeout:
            raise stalled(self._limits.stall_s) from None
        except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:
            raise broken_off(f"{type(error).__name__}: {error}") from None
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise unreachable(self._endpoint, f"{type(error).__name__}: {error}") from None

    @contextlib.contextmanager
    def _bad_answers(self, url: str) -> Iterator[None]:
        """What is wrong before any byte of a body came, and stays wrong."""
        import h11
        import httpx2

        try:
            yield
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise no_address(self._endpoint, f"{url}: {error}") from None
        except httpx2.RemoteProtocolError as error:
            cause: BaseException | None = error
            while cause is not None and not isinstance(cause, h11.RemoteProtocolError):
                cause = cause.__cause__ or cause.__context__
            if cause is None:
                raise
            raise garbled(self._endpoint, str(cause)) from None

    def _check(self, answer: httpx2.Response, path: str) -> None:
        if answer.status_code < 400:
            return
        asked = Asked(self._endpoint, self._repo, path, signed_in=hub.signed_in(self._headers))
        if not self._is_hub(str(answer.request.url)):
            # A storage host's signed address has run out, most likely: the Hub gives a new one.
            raise HubError(
                "hub-storage",
                f"The server that holds the file refused it (HTTP {answer.status_code}).",
                "Try again later.",
                retryable=True,
            )
        raise refused(asked, answer.status_code, answer.headers)

    def _location(self, answer: httpx2.Response, url: str) -> str | None:
        place = answer.headers.get("Location")
        if answer.status_code not in (301, 302, 303, 307, 308) or not place:
            return None
        try:
            target = urljoin(url, place)
            scheme, host, _ = hub.origin(target)
        except ValueError:
            raise no_address(self._endpoint, place) from None
        if scheme not in {"https", urlsplit(url).scheme}:
            raise nonsense(self._endpoint)
        if not host:
            raise no_address(self._endpoint, place)
        return target

    def _is_hub(self, url: str) -> bool:
        try:
            return hub.origin(url) == hub.origin(self._endpoint)
        except ValueError:
            raise no_address(self._endpoint, url) from None


def _remote_file(url: str, answer: httpx2.Response, path: str) -> RemoteFile:
    """Raises HubError: a size that no file has."""
    headers = answer.headers
    size = headers.get("X-Linked-Size") or (None if answer.has_redirect_location else headers.get("Content-Length"))
    tag = headers.get("X-Linked-Etag") or headers.get("ETag") or ""
    return RemoteFile(
        url=url,
        commit=headers.get("X-Repo-Commit"),
        etag=tag.removeprefix("W/").strip('"') or None,
        size=_size(size, path) if size else None,
    )


def _size(told: str, path: str) -> int:
    if not (DIGITS.fullmatch(told) and int(told) <= LARGEST_FILE):
        raise odd_size(path, told)
    return int(told)
