"""Settings of the library."""

from __future__ import annotations

import msgspec

from engine.library.roots import LibraryRoot

MOST_USED = 500
"""The models used longest ago are forgotten beyond that."""


class LibrarySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which folders are looked at.

    Attributes:
        roots: Folders that were added, beside the own one.
        hidden: Ids of folders of other programs that were taken off the list.
        others: Models of other programs are shown where they lie.
    """

    roots: tuple[LibraryRoot, ...] = ()
    hidden: tuple[str, ...] = ()
    others: bool = True


class LibraryUseSettings(msgspec.Struct, frozen=True, kw_only=True):
    """When models were loaded: path to seconds since 1970."""

    used: dict[str, float] = {}

    def with_use(self, path: str, when: float) -> LibraryUseSettings:
        """The same, and ``path`` was loaded at ``when``."""
        kept = sorted({**self.used, path: when}.items(), key=lambda item: item[1])[-MOST_USED:]
        return LibraryUseSettings(used=dict(kept))

    def with_move(self, before: str, after: str) -> LibraryUseSettings:
        """The same, and what was at ``before`` is at ``after``."""
        return LibraryUseSettings(used={after if path == before else path: when for path, when in self.used.items()})
