"""Load options that were chosen for single models, kept in the settings file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from app.load.settings import LoadSettings
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from engine.chat.text import clean
from engine.library.names import shown
from engine.loading.check import problems
from engine.protocol.types import LoadOptions

MOST_MODELS = 500
"""The oldest ones are forgotten beyond that."""

TOGETHER = (
    ("device", "devices", "shares", "split"),
    ("kv_type_k", "kv_type_v", "flash_attention"),
)
"""Fields that make sense only together: when one is kept, so are the others."""


class RememberedOptions:
    """Options of each model: what was chosen for it, laid over the settings for all models.

    Only what differs from these settings is kept, so a later change of them reaches whatever was left alone. An entry
    belongs to a path; a file that was moved is found by its name and size, as long as entries of other files do not
    say otherwise. Entries of models that are gone do no harm.

    Args:
        store: Holds `LoadSettings` and `EngineSettings`.
        size_of: Bytes of an installed model, None when it is not known. Asks no file.
    """

    def __init__(self, store: SettingsStore, size_of: Callable[[Path], int | None] = lambda _path: None) -> None:
        self._store = store
        self._size_of = size_of

    @property
    def defaults(self) -> LoadOptions:
        """The settings for all models."""
        return self._store.get(EngineSettings).load_options()

    def options_for(self, path: Path) -> LoadOptions:
        """What was remembered for ``path``, else the settings for all models."""
        found = self.find(path)
        return self.defaults if found is None else found

    def find(self, path: Path) -> LoadOptions | None:
        """What was remembered for ``path``; None when nothing was."""
        models = self._models
        own = models.get(shown(path))
        if own is not None:
            return self._options(own)
        found = [self._options(entry) for entry in self._namesakes(path, models)]
        return found[0] if found and all(options == found[0] for options in found) else None

    def remember(self, path: Path, options: LoadOptions) -> None:
        """Keep ``options`` for ``path`` in place of earlier ones."""
        kept = {name: entry for name, entry in self._models.items() if name != shown(path)}
        document = {"size": self._size_of(path) or 0, "options": _differences(options, self.defaults)}
        kept[shown(path)] = document
        newest = dict(list(kept.items())[-MOST_MODELS:])
        self._put(newest)

    def forget(self, path: Path) -> None:
        """Let ``path`` load by the settings for all models again."""
        names = {shown(path)}
        if shown(path) not in self._models:
            names = {name for name, entry in self._models.items() if self._is_namesake(path, name, entry)}
        self._put({name: entry for name, entry in self._models.items() if name not in names})

    @property
    def _models(self) -> Mapping[str, Any]:
        return self._store.get(LoadSettings).models

    def _put(self, models: dict[str, Any]) -> None:
        self._store.put(msgspec.structs.replace(self._store.get(LoadSettings), models=models))

    def _namesakes(self, path: Path, models: Mapping[str, Any]) -> Iterator[Any]:
        return (entry for name, entry in models.items() if self._is_namesake(path, name, entry))

    def _is_namesake(self, path: Path, name: str, entry: Any) -> bool:
        """An entry of a file of the same name and size. Its old path may still be there: then this is a copy."""
        size = entry.get("size") if isinstance(entry, Mapping) else None
        return bool(size) and Path(name).name == shown(path.name) and size == self._size_of(path)

    def _options(self, entry: Any) -> LoadOptions:
        """Options of an entry. What somebody wrote there that fits no field is left out; nonsense is as nothing."""
        defaults = self.defaults
        document = entry.get("options") if isinstance(entry, Mapping) else None
        if not isinstance(document, Mapping):
            return defaults
        options = msgspec.structs.replace(defaults, **_fitting(document))
        return defaults if any(True for _ in problems(options)) else options


def _fitting(document: Mapping[str, Any]) -> dict[str, Any]:
    accepted = {}
    for field in msgspec.structs.fields(LoadOptions):
        if field.name in document:
            try:
                accepted[field.name] = msgspec.convert(document[field.name], field.type)
            except msgspec.ValidationError:
                continue
    return accepted


def _differences(options: LoadOptions, defaults: LoadOptions) -> dict[str, Any]:
    names = {name for name in options.__struct_fields__ if getattr(options, name) != getattr(defaults, name)}
    for group in TOGETHER:
        if names.intersection(group):
            names.update(group)
    return {name: _plain(getattr(options, name)) for name in options.__struct_fields__ if name in names}


def _plain(value: object) -> object:
    """Fit for JSON; texts without what no file can hold."""
    return _cleaned(msgspec.to_builtins(value))


def _cleaned(plain: object) -> object:
    if isinstance(plain, str):
        return clean(plain)
    if isinstance(plain, list | tuple):
        return [_cleaned(item) for item in plain]
    return {key: _cleaned(item) for key, item in plain.items()} if isinstance(plain, dict) else plain
