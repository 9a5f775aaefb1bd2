"""The whole library, for programs without a window: the folders that the settings file names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from engine.library.index import Index
from engine.library.records import ScanResult
from engine.library.regular import read_regular
from engine.library.surroundings import here
from engine.library.survey import Survey, Wishes
from engine.library.whereabouts import Whereabouts
from engine.paths import Paths

FOLDERS, USE = "library", "libraryuse"
"""Sections of the settings file (`LibrarySettings`, `LibraryUseSettings`)."""


def index_file(paths: Paths) -> Path:
    """Where headers that were read are kept."""
    return paths.cache / "library" / "index.msgpack"


def whereabouts(paths: Paths) -> Whereabouts:
    """Finds the folders of the library of this user."""
    return Whereabouts(paths.models, here())


def survey(paths: Paths) -> Survey:
    """Scans the library of this user."""
    return Survey(whereabouts(paths), Index(index_file(paths)))


def read_wishes(paths: Paths) -> Wishes:
    """What the settings file says of folders; the defaults for what it does not say, or says wrongly."""
    try:
        document = msgspec.json.decode(read_regular(paths.settings))
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Wishes()
    if not isinstance(document, dict):
        return Wishes()
    folders, use = _section(document, FOLDERS), _section(document, USE)
    accepted: dict[str, Any] = {}
    for field in msgspec.structs.fields(Wishes):
        section = use if field.name == "used" else folders
        if field.name in section:
            try:
                accepted[field.name] = msgspec.convert(section[field.name], field.type)
            except msgspec.ValidationError:
                continue
    return Wishes(**accepted)


def scan_everywhere(paths: Paths) -> ScanResult:
    """All models in all folders of the library, now."""
    return survey(paths).scan(read_wishes(paths))


def _section(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = document.get(name)
    return found if isinstance(found, dict) else {}
