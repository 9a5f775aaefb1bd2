"""Named sets of parameters: kept in the settings, exchanged as JSON files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from PySide6.QtCore import QObject, Signal

from app.chat.parameters import Values, fitting
from app.jobs import Err, Result, SerialRunner
from app.settings.store import SettingsStore
from engine.chat.files import read_whole, write_whole
from engine.chat.titles import make_title
from engine.errors import VrambleError

FORMAT: Final = "vramble-preset"
LARGEST: Final = 1_000_000
"""Bytes of a file that is read."""


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """A name, and the fields of `ChatSettings` that it sets."""

    name: str
    values: dict[str, Any] = {}


class PresetSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All presets in the order in which they were made."""

    presets: tuple[Preset, ...] = ()


class Presets(QObject):
    """Makes, changes, reads and writes presets. Names are unique.

    Attributes:
        changed: There are others now.
    """

    changed = Signal()

    def __init__(self, settings: SettingsStore, runner: SerialRunner, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings, self._runner = settings, runner
        settings.changed.connect(self._settings_changed)

    @property
    def all(self) -> tuple[Preset, ...]:
        """In the order in which they were made."""
        return self._settings.get(PresetSettings).presets

    def find(self, name: str) -> Preset | None:
        """The preset with this name."""
        return next((preset for preset in self.all if preset.name == name), None)

    def save(self, name: str, values: Values) -> str:
        """Keep ``values`` as ``name``, in place of what has that name. Returns the name as it is kept; "" for none."""
        name = make_title(name)
        if name:
            made = Preset(name=name, values=fitting(values))
            others = [made if preset.name == name else preset for preset in self.all]
            self._put(others if made in others else [*others, made])
        return name

    def rename(self, name: str, new: str) -> str:
        """Call a preset something else; returns the name that it has then: a taken one gets a number."""
        preset, new = self.find(name), make_title(new)
        if preset is None or not new or new == name:
            return name
        new = self._free(new)
        self._put([msgspec.structs.replace(one, name=new) if one is preset else one for one in self.all])
        return new

    def delete(self, name: str) -> None:
        """Take a preset away."""
        self._put([preset for preset in self.all if preset.name != name])

    def export(self, name: str, path: Path, done: Callable[[VrambleError | None], None]) -> None:
        """Write a preset to ``path``."""
        preset = self.find(name)
        if preset is not None:
            self._runner.run(lambda: write_whole(path, encode(preset)), lambda result: done(_error(result)))

    def read(self, path: Path, done: Callable[[str | VrambleError], None]) -> None:
        """Take the preset in the file at ``path``; ``done`` gets the name that it has then."""

        def taken(result: Result[Preset]) -> None:
            if isinstance(result, Err):
                done(_error(result) or _unreadable(path))
                return
            done(self.save(self._free(result.value.name), result.value.values))

        self._runner.run(lambda: _read(path), taken)

    def _free(self, name: str) -> str:
        taken = {preset.name for preset in self.all}
        numbered = (f"{name} ({number})" for number in range(2, len(taken) + 3))
        return name if name not in taken else next(one for one in numbered if one not in taken)

    def _put(self, presets: list[Preset]) -> None:
        self._settings.put(PresetSettings(presets=tuple(presets)))

    def _settings_changed(self, feature: str) -> None:
        if feature == "preset":
            self.changed.emit()


def encode(preset: Preset) -> bytes:
    """A preset as the content of a file."""
    document = {"format": FORMAT, "version": 1, "name": preset.name, "values": dict(sorted(preset.values.items()))}
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def decode(content: bytes, name: str) -> Preset:
    """The inverse of `encode`. ``name`` is for a file that has none; what does not fit is left out.

    Raises:
        VrambleError: ``bad-preset``.
    """
    try:
        document = msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        raise _no_preset(str(error)) from error
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise _no_preset("no vramble-preset")
    given = document.get("name")
    return Preset(
        name=make_title(given if isinstance(given, str) else "") or name, values=fitting(document.get("values"))
    )


def _read(path: Path) -> Preset:
    content = read_whole(path, LARGEST)
    if content is None:
        raise _no_preset("too large")
    return decode(content, make_title(path.stem) or FORMAT)


def _error(result: Result[Any]) -> VrambleError | None:
    if not isinstance(result, Err):
        return None
    if isinstance(result.error, VrambleError):
        return result.error
    if isinstance(result.error, OSError):
        next_step = "Choose another place."
        return VrambleError("preset-file", "The file of the preset cannot be used.", next_step, str(result.error))
    raise result.error


def _unreadable(path: Path) -> VrambleError:
    return VrambleError("preset-file", "The file of the preset cannot be used.", "Choose another file.", str(path))


def _no_preset(detail: str) -> VrambleError:
    return VrambleError("bad-preset", "This file is no preset of Vramble.", "Choose another file.", detail)
