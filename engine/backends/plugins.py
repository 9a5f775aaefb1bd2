"""Finding and loading ggml's backend plugins, and saying why one is absent."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.backends.build_record import BuildRecord
from engine.backends.ggml import Ggml
from engine.protocol.types import BackendInfo

PREFIX = "libggml-"
NOT_PLUGINS = {"base"}
NAMES = {"cpu": "CPU", "vulkan": "Vulkan", "hip": "ROCm", "cuda": "CUDA", "rpc": "RPC", "blas": "BLAS"}
ORDER = ("blas", "cuda", "hip", "rpc", "vulkan")
"""Load order of known kinds; others follow, the CPU is last: it must not win over a special backend."""


def kind_of(plugin: Path) -> str:
    """``cpu`` for ``libggml-cpu-haswell.so``, ``vulkan`` for ``libggml-vulkan.so``."""
    return plugin.stem.removeprefix(PREFIX).split("-")[0]


def find_plugins(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """Plugin files by kind, in load order. A file name in a later folder replaces the same name in an earlier one."""
    by_name: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob(f"{PREFIX}*.so")) if folder.is_dir() else ():
            if path.stem.removeprefix(PREFIX) not in NOT_PLUGINS:
                by_name[path.name] = path
    kinds: dict[str, list[Path]] = {}
    for path in by_name.values():
        kinds.setdefault(kind_of(path), []).append(path)
    return dict(sorted(kinds.items(), key=lambda item: (_rank(item[0]), item[0])))


def _rank(kind: str) -> int:
    if kind == "cpu":
        return len(ORDER) + 1
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def load_plugins(ggml: Ggml, folders: Sequence[Path], build: BuildRecord) -> tuple[BackendInfo, ...]:
    """Load one plugin of each kind. What is absent is reported with the loader's own words."""
    kinds = find_plugins(folders)
    found = [_load_kind(ggml, kind, candidates) for kind, candidates in kinds.items()]
    if "vulkan" not in kinds:
        reason = build.vulkan_reason or "it is not part of this installation"
        found.insert(0, BackendInfo(name="Vulkan", path="", loaded=False, error=f"Vulkan was not built: {reason}"))
    return tuple(found)


def _load_kind(ggml: Ggml, kind: str, candidates: list[Path]) -> BackendInfo:
    path = best_variant(candidates)
    name = NAMES.get(kind, kind)
    if path is None:
        error = loader_words(candidates[0]) or "this processor lacks the instructions that it needs"
        return BackendInfo(name=name, path=str(candidates[0]), loaded=False, error=error)
    registered = ggml.load(path)
    if registered is not None:
        return BackendInfo(name=registered, path=str(path), loaded=True)
    error = loader_words(path) or "the plugin is of another version of the engine"
    return BackendInfo(name=name, path=str(path), loaded=False, error=error)


def best_variant(candidates: list[Path]) -> Path | None:
    """The variant with the highest score on this processor; a single file needs no score. None: none can run."""
    if len(candidates) == 1:
        return candidates[0]
    scored = [(score, path) for path in candidates if (score := _score(path)) > 0]
    return max(scored, default=(0, None), key=lambda item: item[0])[1]


def _score(plugin: Path) -> int:
    try:
        function = ctypes.CDLL(str(plugin)).ggml_backend_score
    except (OSError, AttributeError):
        return 0
    function.restype = ctypes.c_int
    return int(function())


def loader_words(plugin: Path) -> str | None:
    """Why the dynamic loader refuses ``plugin``, or None when it does not."""
    try:
        ctypes.CDLL(str(plugin))
    except OSError as error:
        return str(error)
    return None
