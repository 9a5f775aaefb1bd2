"""Asking the Hub what a repository holds, through huggingface_hub's client."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import msgspec

from engine.downloads.token import hub_token
from engine.library.address import parse_repo
from engine.library.hub_errors import Asked, no_address, nonsense, offline, refused, unreachable
from engine.library.listing import RepoListing, choose, parse_listing

if TYPE_CHECKING:
    import httpx2

TIMEOUT_S = 15.0
MAX_ANSWER = 64 * 1024 * 1024
DEFAULT_ENDPOINT = "https://huggingface.co"


def endpoint() -> str:
    """Address of the Hub: ``HF_ENDPOINT`` as it is now, else the public one."""
    return (os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port: who gets the token is decided by all three. Raises ValueError."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return parts.scheme, (parts.hostname or "").lower(), port


def headers() -> dict[str, str]:
    """Headers for requests to the Hub itself: user agent and, when signed in, the token.

    Raises:
        HubError: The Hub's address is none.
    """
    from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

    address = endpoint()
    try:
        origin(address)
    except ValueError:
        raise no_address(address, address) from None
    own = build_hf_headers(library_name="vramble", token=hub_token(address) or False)
    return {**own, "Accept-Encoding": "identity"}


def signed_in(hub_headers: dict[str, str]) -> bool:
    """The headers carry a token."""
    return any(name.lower() == "authorization" for name in hub_headers)


def list_files(text: str, timeout: float = TIMEOUT_S) -> RepoListing:
    """GGUF files of the repository that ``text`` names (see `parse_repo`).

    Raises:
        VrambleError: ``repo-name``, or a `HubError`: gated, not accepted, missing, bad token,
            unreachable, rate-limited and so on, each with its own code.
    """
    ref = parse_repo(text)
    listing = parse_listing(ref.repo, _model_info(ref.repo, ref.revision, timeout), ref.revision)
    if ref.wanted is None:
        return listing
    found, _ = choose(listing, ref.wanted)
    return msgspec.structs.replace(listing, wanted=found.path)


def _model_info(repo: str, revision: str, timeout: float) -> object:
    """The API's JSON answer. Read by hand: the library's own record does not survive odd fields."""
    import httpx2
    from huggingface_hub import get_session
    from huggingface_hub.errors import OfflineModeIsEnabled

    hub = endpoint()
    hub_headers = headers()
    url = f"{hub}/api/models/{repo}"
    if revision != "main":
        url += f"/revision/{quote(revision, safe='')}"
    try:
        answer = get_session().get(url, headers=hub_headers, params={"blobs": "true"}, timeout=timeout)
    except OfflineModeIsEnabled:
        raise offline(hub) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise unreachable(hub, f"{type(error).__name__}: {error}") from None
    if answer.status_code >= 400:
        raise refused(Asked(hub, repo, signed_in=signed_in(hub_headers)), answer.status_code, answer.headers)
    return _json(answer, hub)


def _json(answer: httpx2.Response, hub: str) -> object:
    if len(answer.content) > MAX_ANSWER:
        raise nonsense(hub)
    try:
        return answer.json()
    except (ValueError, RecursionError):
        raise nonsense(hub) from None
