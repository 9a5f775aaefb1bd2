"""Folders in which other programs keep models: their own defaults, variables and settings files.

Sources: the documentation and settings files of each program as of autumn 2026 (huggingface_hub "Environment
variables"; ollama docs "faq"; LM Studio ``settings.json``; Jan "Data folder"; GPT4All ``GPT4All.ini``;
lemonade "Add a Custom Model"; llama.cpp ``common/download``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from engine.library.roots import LibraryRoot, RootKind
from engine.library.surroundings import Surroundings

MAX_SETTINGS = 4 << 20
MODEL_PATH = re.compile(r"^modelPath=(.+)$", re.MULTILINE)
FLATPAK = ".var/app"

Places = Callable[[Surroundings], Iterator[Path]]


def find_places(around: Surroundings) -> tuple[LibraryRoot, ...]:
    """Folders of other programs that are there now, each once, in a steady order."""
    found: dict[tuple[int, int], LibraryRoot] = {}
    for kind, places in KINDS:
        for path in places(around):
            key = _key(path)
            if key is not None:
                found.setdefault(key, LibraryRoot(kind=kind, path=str(path)))
    return tuple(found.values())


def _key(path: Path) -> tuple[int, int] | None:
    """What tells a folder with something in it, or one that may not be looked into; None for others."""
    try:
        info = path.stat()
        inside = path.is_dir() and any(True for _ in path.iterdir())
    except PermissionError:
        return 0, hash(path)
    except (OSError, ValueError):
        return None
    return (info.st_dev, info.st_ino) if inside else None


def _hub(around: Surroundings) -> Iterator[Path]:
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if (path := around.variable(name)) is not None:
            yield path
    if (home := around.variable("HF_HOME")) is not None:
        yield home / "hub"
    yield around.xdg("XDG_CACHE_HOME", ".cache") / "huggingface/hub"


def _lm_studio(around: Surroundings) -> Iterator[Path]:
    pointer = _text(around.home / ".lmstudio-home-pointer").strip()
    homes = [around.expanded(pointer)] if pointer else []
    for home in (*homes, around.home / ".lmstudio", around.home / ".cache/lm-studio"):
        chosen = _setting(home / "settings.json", "downloadsFolder")
        if chosen:
            yield around.expanded(chosen)
        yield home / "models"


def _ollama(around: Surroundings) -> Iterator[Path]:
    if (path := around.variable("OLLAMA_MODELS")) is not None:
        yield path
    yield around.home / ".ollama/models"
    yield around.home / FLATPAK / "com.jeffser.Alpaca/data/.ollama/models"
    for place in ("usr/share/ollama/.ollama/models", "var/lib/ollama/.ollama/models", "var/lib/ollama/models"):
        yield around.system / place
    if (around.system / "var/lib/ollama/manifests").is_dir():
        yield around.system / "var/lib/ollama"
    yield around.system / "var/snap/ollama/common/models"


def _jan(around: Surroundings) -> Iterator[Path]:
    data, config = around.xdg("XDG_DATA_HOME", ".local/share"), around.xdg("XDG_CONFIG_HOME", ".config")
    flatpak = around.home / FLATPAK / "ai.jan.Jan"
    for settings in (config, data, flatpak / "config", flatpak / "data"):
        chosen = _setting(settings / "Jan/settings.json", "data_folder")
        if chosen:
            yield around.expanded(chosen) / "llamacpp/models"
    for base in (data, flatpak / "data"):
        yield base / "Jan/data/llamacpp/models"


def _gpt4all(around: Surroundings) -> Iterator[Path]:
    data, config = around.xdg("XDG_DATA_HOME", ".local/share"), around.xdg("XDG_CONFIG_HOME", ".config")
    flatpak = around.home / FLATPAK / "io.gpt4all.gpt4all"
    for settings in (config, flatpak / "config"):
        match = MODEL_PATH.search(_text(settings / "nomic.ai/GPT4All.ini"))
        if match:
            yield around.expanded(match[1].strip().strip('"'))
    for base in (data, flatpak / "data"):
        yield base / "nomic.ai/GPT4All"


def _lemonade(around: Surroundings) -> Iterator[Path]:
    yield from _of_lemonade(around, "models_dir")
    yield around.system / "var/lib/lemonade/.cache/huggingface/hub"


def _users_own(around: Surroundings) -> Iterator[Path]:
    """Files that Lemonade only reads: its manual says that they are the user's to manage."""
    yield from _of_lemonade(around, "extra_models_dir")


def _of_lemonade(around: Surroundings, key: str) -> Iterator[Path]:
    config, cache = around.xdg("XDG_CONFIG_HOME", ".config"), around.xdg("XDG_CACHE_HOME", ".cache")
    for settings in (config / "lemonade", cache / "lemonade", around.system / "var/lib/lemonade"):
        chosen = _setting(settings / "config.json", key)
        if chosen and chosen != "auto":
            yield around.expanded(chosen)


def _llama_cpp(around: Surroundings) -> Iterator[Path]:
    if (path := around.variable("LLAMA_CACHE")) is not None:
        yield path
    yield around.xdg("XDG_CACHE_HOME", ".cache") / "llama.cpp"


KINDS: tuple[tuple[RootKind, Places], ...] = (
    (RootKind.LM_STUDIO, _lm_studio),
    (RootKind.OLLAMA, _ollama),
    (RootKind.JAN, _jan),
    (RootKind.GPT4ALL, _gpt4all),
    (RootKind.HUB_CACHE, _hub),
    (RootKind.LEMONADE, _lemonade),
    (RootKind.LLAMA_CPP, _llama_cpp),
    (RootKind.FOLDER, _users_own),
)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_SETTINGS).decode("utf-8", "replace")
    except OSError:
        return ""


def _setting(path: Path, key: str) -> str:
    """The text at ``key`` of a JSON file, empty when there is none."""
    try:
        document = msgspec.json.decode(_text(path))
    except (msgspec.DecodeError, RecursionError):
        return ""
    value = document.get(key) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""
