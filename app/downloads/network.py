"""How the network may be used now: settings and environment together."""

from __future__ import annotations

import os

from app.downloads.settings import DownloadSettings, network_environment
from app.settings.store import SettingsStore
from engine.library.hub import DEFAULT_ENDPOINT

TRUE = {"1", "ON", "YES", "TRUE"}
"""What switches a variable of the Hub's client on."""


class Network:
    """Without a store the settings are the defaults."""

    def __init__(self, store: SettingsStore | None = None) -> None:
        self._store = store

    @property
    def settings(self) -> DownloadSettings:
        """As they are now."""
        return self._store.get(DownloadSettings) if self._store is not None else DownloadSettings()

    @property
    def offline(self) -> bool:
        """Nothing is asked of the network."""
        return self.settings.offline or os.environ.get("HF_HUB_OFFLINE", "").upper() in TRUE

    @property
    def hub(self) -> str:
        """Address of the Hub or of the mirror that takes its place."""
        return (self.environ().get("HF_ENDPOINT") or DEFAULT_ENDPOINT).rstrip("/")

    def environ(self) -> dict[str, str]:
        """What the environment of a child that asks the Hub is made of."""
        return network_environment(self.settings, os.environ)
