"""Which version of the program this is."""

from __future__ import annotations


def program_version() -> str:
    """The version of the installed program; ``unknown`` when it runs without being installed."""
    from importlib import metadata

    try:
        return metadata.version("vramble")
    except metadata.PackageNotFoundError:
        return "unknown"
