"""Which models need safer settings on which device, kept in the settings file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.settings.store import SettingsStore
from engine.client.ladder import Rung, rungs_named

MOST_ENTRIES = 200
"""The oldest ones are forgotten beyond that."""


class SafeModeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One model on one device.

    Attributes:
        model: Path of the model file.
        device: PCI address; ggml's device id where there is none.
        rungs: Names of `engine.client.ladder.Rung`.
        n_layers: Layers of the model, for rungs that take a share of them; 0 when unknown.
    """

    model: str = ""
    device: str = ""
    rungs: tuple[str, ...] = ()
    n_layers: int = 0


class SafeModeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, the newest last."""

    entries: tuple[SafeModeEntry, ...] = ()


class SaferSettings:
    """Finds and changes entries. A model that has none loads as it always did."""

    def __init__(self, store: SettingsStore) -> None:
        self._store = store

    def knows(self, model: Path) -> bool:
        """There is an entry of ``model`` for some device."""
        return any(entry.model == str(model) for entry in self._entries)

    def find(self, model: Path, device: str) -> SafeModeEntry | None:
        """The entry of this pair."""
        return next((e for e in self._entries if (e.model, e.device) == (str(model), device)), None)

    def remember(self, entry: SafeModeEntry) -> None:
        """Keep ``entry`` in place of an earlier one of its pair."""
        kept = (*self._others(entry.model, entry.device), entry)[-MOST_ENTRIES:]
        self._store.put(SafeModeSettings(entries=kept))

    def forget(self, model: Path, device: str) -> None:
        """The pair loads as asked again."""
        self._store.put(SafeModeSettings(entries=self._others(str(model), device)))

    @property
    def _entries(self) -> tuple[SafeModeEntry, ...]:
        return self._store.get(SafeModeSettings).entries

    def _others(self, model: str, device: str) -> tuple[SafeModeEntry, ...]:
        return tuple(e for e in self._entries if (e.model, e.device) != (model, device))


def rungs_of(entry: SafeModeEntry | None) -> tuple[Rung, ...]:
    """The rungs of an entry; none without one."""
    return () if entry is None else rungs_named(entry.rungs)
