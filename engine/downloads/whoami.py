"""Whose token is it?"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from engine.library import hub
from engine.library.hub_errors import Asked, HubError, nonsense, offline, refused, stalled, unreachable

if TYPE_CHECKING:
    import httpx2

PATH = "/api/whoami-v2"
MOST: Final = 1 << 20
"""Bytes of an answer: an account with many organisations has some ten thousand."""


def whose(token: str, timeout_s: float) -> str:
    """Name of the account of ``token`` at the Hub.

    Raises:
        HubError: ``hub-bad-token``, or why the Hub could not be asked.
    """
    import httpx2
    from huggingface_hub import get_session
    from huggingface_hub.errors import OfflineModeIsEnabled

    endpoint = hub.endpoint()
    headers = {"Authorization": f"Bearer {token.strip()}", "Accept-Encoding": "identity"}
    try:
        client = get_session()
        request = client.build_request("GET", f"{endpoint}{PATH}", headers=headers, timeout=timeout_s)
        answer = client.send(request, stream=True, follow_redirects=False)
        try:
            data = json.loads(_body(answer, endpoint, timeout_s)) if answer.status_code == 200 else None
        finally:
            answer.close()
    except OfflineModeIsEnabled:
        raise offline(endpoint) from None
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.LocalProtocolError) as error:
        raise unreachable(endpoint, type(error).__name__) from None
    except (ValueError, RecursionError):
        raise nonsense(endpoint) from None
    if answer.status_code in (401, 403):
        raise not_accepted()
    if answer.status_code != 200:
        raise refused(Asked(endpoint, "account", signed_in=True), answer.status_code, answer.headers)
    name = data.get("name") if isinstance(data, Mapping) else None
    return name[:100] if isinstance(name, str) else ""


def _body(answer: httpx2.Response, endpoint: str, timeout_s: float) -> bytes:
    """All of it, if it ends soon. Bytes as they come: nothing is unpacked."""
    found, end = bytearray(), time.monotonic() + timeout_s
    for chunk in answer.iter_raw():
        found += chunk
        if len(found) > MOST:
            raise nonsense(endpoint)
        if time.monotonic() > end:
            raise stalled(timeout_s)
    return bytes(found)


def not_accepted() -> HubError:
    """The Hub does not know the token."""
    return HubError(
        "hub-bad-token",
        "The Hub does not accept this access token.",
        "Look whether all of it was copied, or make a new one on the Hub's page of access tokens.",
    )
