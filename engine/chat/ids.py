"""Identities of conversations and messages."""

from __future__ import annotations

import secrets


def new_id(now: float) -> str:
    """A fresh id: milliseconds since 1970, then 40 random bits, in hexadecimal.

    Ids made later sort later, which keeps the indexes of a large history compact.
    """
    return f"{int(now * 1000):012x}{secrets.token_hex(5)}"
