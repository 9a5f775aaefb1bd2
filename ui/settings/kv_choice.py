"""Keys and values of the KV cache as one choice."""

from __future__ import annotations

from app.settings.records import EngineSettings
from app.settings.setting import Setting
from app.settings.store import SettingsStore
from engine.protocol.types import KvType
from ui.settings.controls import Choice
from ui.theme import Theme

MIXED = "mixed"


class KvSetting(Setting):
    """Keys and values as one: their format where they agree, else `MIXED`."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__(store, EngineSettings, "kv_type_k")
        self._values = Setting(store, EngineSettings, "kv_type_v")

    @property
    def value(self) -> KvType | str:
        """The format of both."""
        keys: KvType = super().value
        return keys if keys is self._values.value else MIXED


class KvChoice(Choice):
    """Formats, and a word that is offered only while keys and values differ."""

    def __init__(self, theme: Theme, name: str, choices: list[tuple[KvType, str]], mixed: str) -> None:
        super().__init__(theme, name, choices)
        self._offered, self._mixed = choices, mixed

    def show_value(self, value: KvType | str, text: str = "") -> None:
        """Show ``value``."""
        if value != MIXED:
            self.set_choices(self._offered)
        super().show_value(value, self._mixed)
