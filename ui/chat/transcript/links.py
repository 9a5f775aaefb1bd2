"""Which addresses of a message may be opened."""

from __future__ import annotations

from urllib.parse import urlsplit

OPENED = ("http", "https", "mailto")
"""Schemes that may be opened after a question. All others are only copied."""


def may_open(address: str) -> bool:
    """Whether the user may be asked to open ``address``."""
    try:
        return urlsplit(address).scheme.lower() in OPENED
    except ValueError:
        return False
