"""File names that come from outside, made safe to use below a folder."""

from __future__ import annotations

from pathlib import PurePosixPath

from engine.errors import VrambleError

MAX_COMPONENT = 240
"""Bytes: room for ``.part.json`` below the 255 of most file systems."""
MAX_PATH = 1024
MAX_COMPONENTS = 16


def safe_relative(name: str) -> PurePosixPath:
    """``name`` as a relative path that stays below the folder it is joined to.

    Raises:
        VrambleError: ``unsafe-name``.
    """
    reason = _reason(name)
    if reason:
        raise VrambleError("unsafe-name", f"The file name {name[:80]!r} is not safe to use: {reason}.")
    return PurePosixPath(name)


def _reason(name: str) -> str:
    if not name or name.startswith("/") or name.endswith("/"):
        return "it is empty or absolute"
    if "\\" in name or any(ord(sign) < 32 or ord(sign) == 127 or 0xD800 <= ord(sign) < 0xE000 for sign in name):
        return "it holds signs that no file name should have"
    components = name.split("/")
    if len(components) > MAX_COMPONENTS or len(name.encode()) > MAX_PATH:
        return "it is too long"
    for component in components:
        if component in {"", ".", ".."} or component.startswith((".", "~")):
            return "it leads out of its folder or is hidden"
        if len(component.encode()) > MAX_COMPONENT:
            return "it is too long"
        if component != component.strip():
            return "it begins or ends with a space"
    return ""
