"""Where the bytes of a file come from, and the answer that does not belong to them."""

from __future__ import annotations

from engine.downloads.hub_http import HubHttp, RemoteFile


class StartAgainError(Exception):
    """The bytes that come do not belong to those that are here.

    Args:
        why: A sentence.
        plain: The server does not serve ranges as it should: ask for the whole file from now on.
        keep: What is here can be kept.
        changed: The file at the Hub may be another one now.
    """

    def __init__(self, why: str, *, plain: bool = False, keep: bool = False, changed: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.plain = plain
        self.keep = keep
        self.changed = changed


class Source:
    """Where the bytes come from.

    Attributes:
        tag: That the server's earlier answers came with; None: not known yet.
        heed_tags: Another tag means another file. Off where the Hub said that it does not.
        plain: Ask for the whole file, without ranges.
    """

    def __init__(self, http: HubHttp, remote: RemoteFile, path: str, tag: str | None) -> None:
        self.http = http
        self.remote = remote
        self.path = path
        self.tag = tag
        self.heed_tags = True
        self.plain = False
