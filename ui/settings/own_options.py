"""Models that are loaded with options of their own, and the way back to those of all models."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import PurePath
from typing import Any

import msgspec
from PySide6.QtCore import QObject

from app.load.settings import LoadSettings
from app.settings.store import SettingsStore
from ui.settings.row import Row
from ui.settings.section import Section
from ui.theme import Theme
from ui.widgets.text_button import TextButton


class OwnOptions(QObject):
    """Keeps ``section`` filled with one row for each model, the newest first."""

    def __init__(self, theme: Theme, store: SettingsStore, section: Section) -> None:
        super().__init__(section)
        self._theme, self._store, self._section = theme, store, section
        self._shown: Mapping[str, Any] = {}
        store.changed.connect(self._follow)
        self._show()

    def _follow(self, feature: str) -> None:
        if feature == "load":
            self._show()

    def _show(self) -> None:
        models = self._store.get(LoadSettings).models
        if models == self._shown:
            return
        self._shown = models
        self._section.clear()
        for name, entry in reversed(models.items()):
            button = TextButton(self._theme, self.tr("Forget"))
            button.setAccessibleName(self.tr("Forget the options of {0}").format(PurePath(name).name))
            button.setObjectName(f"forget-{PurePath(name).name}")
            button.clicked.connect(partial(self._forget, name))
            text = _told(entry) or self.tr("As all models, at the time it was kept.")
            self._section.add(Row(self._theme, PurePath(name).name, text, [button], words="remembered options"))

    def _forget(self, name: str) -> None:
        settings = self._store.get(LoadSettings)
        models = {other: entry for other, entry in settings.models.items() if other != name}
        self._store.put(msgspec.structs.replace(settings, models=models))


def _told(entry: Any) -> str:
    """The options of an entry, as they are called in the file; what no one could read is left out."""
    options = entry.get("options") if isinstance(entry, Mapping) else None
    if not isinstance(options, Mapping):
        return ""
    return ", ".join(f"{name} {_plain(value)}" for name, value in options.items() if value not in ([], {}))


def _plain(value: Any) -> str:
    return msgspec.json.encode(value).decode().strip('"')
