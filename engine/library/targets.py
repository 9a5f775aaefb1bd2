"""Where a model goes in another folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from engine.errors import VrambleError
from engine.library import hub_cache, ollama
from engine.library.copying import Pair
from engine.library.names import base_stem, shown
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo, RootKind, RootState
from engine.library.safe_path import safe_relative

IMPORTED = "imported"
CLOSED = {RootKind.HUB_CACHE, RootKind.OLLAMA, RootKind.LEMONADE}
"""Kinds whose layout only their owner may write."""


def check_target(target: RootInfo) -> None:
    """Raise ``not-a-target`` when models cannot be put there."""
    reason = ""
    if target.root.kind in CLOSED or (target.root.kind is not RootKind.OWN and _has_layout(target.path)):
        reason = f"{target.name} keeps its models in a layout of its own, so nothing can be put there."
    elif target.state is not RootState.PRESENT and (
        target.root.kind is not RootKind.OWN or target.state is not RootState.MISSING
    ):
        reason = target.problem
    elif target.state is RootState.PRESENT and not target.writable:
        reason = f"{shown(target.path)} cannot be written to."
    if reason:
        raise VrambleError("not-a-target", reason, "Choose another folder.", shown(target.path))


def _has_layout(path: Path) -> bool:
    return ollama.is_ollama(path) or hub_cache.is_hub_cache(path)


def pairs_for_move(model: InstalledModel, origin: Path, target: Path, along: tuple[Path, ...] = ()) -> tuple[Pair, ...]:
    """Each file of ``model`` and its place below ``target``; ``origin`` is its root, ``along`` goes with it."""
    folder = target / _folder_of(model, origin)
    if model.source is RootKind.OLLAMA and not model.path.name.lower().endswith(".gguf"):
        return (Pair(model.path, folder / f"{_plain(model.name)}.gguf"),)
    return tuple(Pair(path, folder / path.name) for path in (*model.parts, *along))


def _folder_of(model: InstalledModel, origin: Path) -> Path:
    """``owner/repo`` and the folders in the repository where they are known, else as it lies now."""
    if model.repo is not None and _is_safe(model.repo):
        inside = PurePosixPath(model.file).parent if model.file and _is_safe(model.file) else PurePosixPath()
        return Path(model.repo) / inside
    if not model.owner and model.folder.is_relative_to(origin) and model.folder != origin:
        return model.folder.relative_to(origin)
    return Path(IMPORTED) / (_plain(model.name) if model.owner else base_stem(model.path.name))


def pair_for_import(source: Path, target: Path) -> Pair:
    """``source`` and its place below ``target``."""
    return Pair(source, target / IMPORTED / base_stem(source.name) / source.name)


def _plain(name: str) -> str:
    """``name`` as one part of a path: ``llama3:8b`` is ``llama3-8b``."""
    text = "".join(sign if sign.isalnum() or sign in "-._" else "-" for sign in name).strip("-. ")
    return text or "model"


def _is_safe(name: str) -> bool:
    try:
        safe_relative(name)
    except VrambleError:
        return False
    return True


def check_source(path: Path, roots: Sequence[RootInfo], *, taken_away: bool) -> None:
    """Raise ``already-in-library`` for what a root has, ``belongs-to-other`` for moving another program's file."""
    for root in roots:
        if root.state is RootState.PRESENT and Path(os.path.realpath(path)).is_relative_to(root.path.resolve()):
            if root.root.owner and taken_away:
                raise VrambleError(
                    "belongs-to-other",
                    f"{shown(path.name)} belongs to {root.root.owner}, which would not have it any more.",
                    "Copy or link it instead.",
                )
            if not root.root.owner:
                raise VrambleError(
                    "already-in-library", f"{shown(path.name)} is in the library already.", "There is nothing to do."
                )
