"""One field of one settings record, to be shown and changed by itself."""

from __future__ import annotations

from typing import Any

import msgspec

from app.settings.fields import feature_name
from app.settings.store import SettingsStore


class Setting:
    """A field in the store: its value, its default, and whether these differ.

    Args:
        record: The settings record that declares the field.
        field: Name of the field.
    """

    def __init__(self, store: SettingsStore, record: type[msgspec.Struct], field: str) -> None:
        self._store, self._record, self._field = store, record, field
        self._default = getattr(record(), field)

    @property
    def feature(self) -> str:
        """Name by which `SettingsStore.changed` tells about it."""
        return feature_name(self._record)

    @property
    def value(self) -> Any:
        """What is set now."""
        return getattr(self._store.get(self._record), self._field)

    @property
    def default(self) -> Any:
        """What it is when nobody changed it."""
        return self._default

    @property
    def is_changed(self) -> bool:
        """Whether it is something else than the default."""
        return bool(self.value != self._default)

    def set(self, value: Any) -> None:
        """Take ``value`` and save it.

        Raises:
            msgspec.ValidationError: The field does not take it.
        """
        field = next(f for f in msgspec.structs.fields(self._record) if f.name == self._field)
        checked = msgspec.convert(msgspec.to_builtins(value), field.type)
        self._store.put(msgspec.structs.replace(self._store.get(self._record), **{self._field: checked}))

    def reset(self) -> None:
        """Go back to the default."""
        self.set(self._default)
