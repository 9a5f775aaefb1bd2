"""What self-tests found, kept in the settings file: one entry for each fingerprint of a load."""

from __future__ import annotations

import msgspec

from app.settings.store import SettingsStore
from engine.client.agreement import FAILED, Outcome

MOST_ENTRIES = 200
"""The oldest ones are forgotten beyond that; they are only tested again."""


class SelfTestEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict.

    Attributes:
        fingerprint: `ModelInfo.fingerprint`.
        model: Path of the model file.
        device: Name of its main device.
        outcome: Value of `engine.client.agreement.Outcome`.
        detail: Figures, or why nothing was compared.
        accepted: The user has seen the warning and wants no more of it.
    """

    fingerprint: str = ""
    model: str = ""
    device: str = ""
    outcome: str = Outcome.UNCHECKED.value
    detail: str = ""
    accepted: bool = False

    @property
    def failed(self) -> bool:
        """Something is wrong with what the model computes there."""
        return self.outcome in FAILED


class SelfTestSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All of them, the newest last."""

    entries: tuple[SelfTestEntry, ...] = ()


class Verdicts:
    """Finds and keeps entries. What was not checked to its end is not kept, so that it is tried again."""

    def __init__(self, store: SettingsStore) -> None:
        self._store = store

    def find(self, fingerprint: str) -> SelfTestEntry | None:
        """The entry of this load."""
        return next((entry for entry in self._entries if entry.fingerprint == fingerprint), None)

    def remember(self, entry: SelfTestEntry) -> None:
        """Keep ``entry`` in place of an earlier one."""
        if entry.outcome == Outcome.UNCHECKED.value:
            return
        others = (other for other in self._entries if other.fingerprint != entry.fingerprint)
        self._store.put(SelfTestSettings(entries=(*others, entry)[-MOST_ENTRIES:]))

    @property
    def _entries(self) -> tuple[SelfTestEntry, ...]:
        return self._store.get(SelfTestSettings).entries
