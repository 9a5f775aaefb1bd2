"""What the Hub refused, as sentences. Knows status codes and headers, not the client library."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Callable, Mapping

from engine.errors import VrambleError

RATE_LIMIT_RESET = re.compile(r"\bt\s*=\s*(\d+)")
LONGEST_WAIT = 3600.0


class HubError(VrambleError):
    """A refusal of the Hub, or no answer at all.

    Args:
        retryable: Asking again later may help.
        retry_after: Seconds that the Hub asked to wait, None when it did not say.
    """

    def __init__(
        self,
        code: str,
        message: str,
        next_step: str = "",
        detail: str = "",
        *,
        retryable: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(code, message, next_step, detail)
        self.retryable = retryable
        self.retry_after = retry_after


class Asked:
    """What was asked for, to name it in a sentence. Without a repository it was a search."""

    def __init__(self, endpoint: str, repo: str, file: str | None = None, *, signed_in: bool = False) -> None:
        self.endpoint = endpoint
        self.repo = repo
        self.file = file
        self.signed_in = signed_in

    @property
    def page(self) -> str:
        """Address of the repository's page."""
        return f"{self.endpoint}/{self.repo}".rstrip("/")


def refused(asked: Asked, status: int, headers: Mapping[str, str]) -> HubError:
    """The error for an answer with ``status`` >= 400. ``headers`` is case-insensitive."""
    code = headers.get("X-Error-Code", "")
    text = headers.get("X-Error-Message", "")
    detail = f"HTTP {status} {code}".strip()
    if status == 429:
        return _rate_limited(headers, detail)
    if status >= 500 or status == 408:
        message = f"The Hub has a problem of its own at the moment (HTTP {status})."
        wait = retry_after(headers)
        return HubError("hub-server", message, "Try again later.", detail, retryable=True, retry_after=wait)
    if code in BY_CODE and asked.repo:
        return BY_CODE[code](asked, status, detail)
    if status == 401 and ("invalid" in text.lower() or asked.signed_in):
        return _bad_token(detail)
    if status == 403 or "disabled" in text.lower():
        message = f"The Hub does not let you use {asked.repo or 'its search'}."
        return HubError("hub-forbidden", message, f"Look at {asked.page} for the reason.", detail)
    if status in (401, 404, 410) and asked.repo:
        return _no_repo(asked, detail)
    return HubError("hub-refused", f"The Hub refused the request (HTTP {status}).", "Try again later.", detail)


def _gated(asked: Asked, status: int, detail: str) -> HubError:
    if status == 403:
        return HubError(
            "hub-not-accepted",
            f"You have not accepted the terms of {asked.repo} yet, or its owner has not let you in.",
            f"Open {asked.page}, accept the terms, then try again.",
            detail,
        )
    return HubError(
        "hub-gated",
        f"{asked.repo} is gated: its owner wants to know who uses it.",
        f"Accept the terms at {asked.page}, then sign in with an access token (“hf auth login”).",
        detail,
    )


def _no_repo(asked: Asked, detail: str) -> HubError:
    return HubError(
        "hub-no-repo",
        f"There is no repository {asked.repo} on the Hub, or it is private.",
        "Check the spelling: owner/repository.",
        detail,
    )


def _no_file(asked: Asked, detail: str) -> HubError:
    name = asked.file or "this file"
    return HubError(
        "hub-no-file", f"{asked.repo} has no file “{name}”.", "List its files to see what is there.", detail
    )


def _no_revision(asked: Asked, detail: str) -> HubError:
    return HubError("hub-no-revision", f"{asked.repo} has no such revision.", "Use the main revision.", detail)


def _bad_token(detail: str) -> HubError:
    return HubError(
        "hub-bad-token",
        "The Hub does not accept your access token.",
        "Make a new token and sign in again (“hf auth login”), or remove HF_TOKEN.",
        detail,
    )


BY_CODE: Mapping[str, Callable[[Asked, int, str], HubError]] = {
    "GatedRepo": _gated,
    "RepoNotFound": lambda asked, _, detail: _no_repo(asked, detail),
    "EntryNotFound": lambda asked, _, detail: _no_file(asked, detail),
    "RevisionNotFound": lambda asked, _, detail: _no_revision(asked, detail),
}


def _rate_limited(headers: Mapping[str, str], detail: str) -> HubError:
    wait = retry_after(headers)
    step = f"Try again in {wait:.0f} seconds." if wait is not None else "Try again in a few minutes."
    message = "The Hub gets too many requests from this address."
    return HubError("hub-rate-limited", message, step, detail, retryable=True, retry_after=wait)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the answer asks to wait: from ``Retry-After`` or the ``RateLimit`` header; at most an hour."""
    text = headers.get("Retry-After", "").strip()
    if text:
        if text.isascii() and text.isdigit() and len(text) < 8:
            return min(float(text), LONGEST_WAIT)
        try:
            then = email.utils.parsedate_to_datetime(text).timestamp()
        except (TypeError, ValueError, OverflowError):
            return None
        return min(max(0.0, then - time.time()), LONGEST_WAIT)
    found = RATE_LIMIT_RESET.search(headers.get("RateLimit", ""))
    return min(float(found[1]), LONGEST_WAIT) if found else None


def unreachable(endpoint: str, reason: str) -> HubError:
    """No answer: no network, no such host, connection refused or timed out."""
    return HubError(
        "hub-unreachable",
        f"The Hub at {endpoint} cannot be reached.",
        "Check the network connection, then try again.",
        reason,
        retryable=True,
    )


def offline(endpoint: str) -> HubError:
    """Offline mode is switched on by the environment."""
    return HubError(
        "hub-offline",
        "Offline mode is switched on, so the Hub was not asked.",
        "Switch it off in the settings, or remove HF_HUB_OFFLINE from the environment.",
        endpoint,
    )


def nonsense(endpoint: str) -> HubError:
    """An answer that is not the Hub's."""
    return HubError(
        "hub-nonsense",
        f"What answered at {endpoint} is not the Hub.",
        "Look whether the network wants you to sign in, or whether HF_ENDPOINT is right.",
    )


def no_address(endpoint: str, place: str) -> HubError:
    """Where it leads cannot be asked, now or later. ``place`` may be anything."""
    return HubError(
        "hub-no-address",
        f"The Hub at {endpoint} leads to an address that is none.",
        "Look whether HF_ENDPOINT, or the mirror in the settings, is right.",
        ascii(place[:200]),
    )


def garbled(endpoint: str, reason: str) -> HubError:
    """An answer that breaks the rules of HTTP: it will not be another one the next time."""
    return HubError(
        "hub-garbled",
        f"What {endpoint} answers cannot be understood.",
        "Look whether a proxy or a mirror lies between, then try again later.",
        reason,
    )


def odd_size(file: str, told: str) -> HubError:
    """No file has that many bytes."""
    return HubError(
        "hub-odd-size",
        f"The Hub tells a size of {file} that no file has.",
        "Try again later, or choose another file.",
        ascii(told[:40]),
    )


def stalled(seconds: float) -> HubError:
    """The connection is open and brings nothing."""
    message = f"No data came for {seconds:.0f} s."
    return HubError("stalled", message, "Check the network connection, then try again.", retryable=True)


def broken_off(reason: str) -> HubError:
    """The connection ended before the answer did."""
    return HubError(
        "broken-off",
        "The connection broke off before the answer was complete.",
        "Check the network connection, then try again.",
        reason,
        retryable=True,
    )


def switched_off() -> HubError:
    """Offline mode is switched on in the settings."""
    return HubError(
        "hub-offline", "Offline mode is switched on, so the Hub was not asked.", "Switch it off in the settings."
    )


def not_kept(error: HubError, repo: str) -> HubError:
    """``error``, and nothing of ``repo`` was kept from earlier."""
    return HubError(error.code, f"{error.message} Nothing of {repo} was kept from earlier.", error.next_step)
