"""What deleting a model means: whose files go, what stays, what the disk gets back."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from engine.errors import VrambleError
from engine.library import hub_cache, ollama
from engine.library.names import shown
from engine.library.origin import origin_path
from engine.library.records import Deletion, InstalledModel
from engine.library.roots import RootKind
from engine.library.states import FileState

SECOND_NAME = "The file has another name elsewhere on this disk, so its space stays in use."
ONLY_LINK = "It is a link: only the link goes, {0} stays."


def plan_deletion(model: InstalledModel, root: Path) -> Deletion:
    """What would go, for a model of the root that lies at ``root`` now. Deletes nothing."""
    parts = model.parts or (model.path,)
    notes: list[str] = []
    paths: list[Path] = []
    stray = next((part for part in parts if not _is_inside(part, root)), None)
    if model.state is FileState.ABSENT:
        refused = "It is not there now, so it cannot be deleted."
    elif stray is not None:
        refused = f"{shown(stray.name)} lies outside of the models folder, so it is not deleted."
    else:
        try:
            paths = _paths_of(model, parts, root, notes)
            refused = _refusal(paths, model)
        except OSError as error:
            refused = f"It cannot be looked at: {error.strerror or error}."
    return Deletion(
        model=model,
        paths=tuple(dict.fromkeys(paths)),
        frees_bytes=freed_by(paths),
        owner=model.owner,
        notes=(*_whose(model), *dict.fromkeys(notes)),
        stays=_stays(model, paths),
        refused=f"{refused} {_way_out(model)}" if refused else "",
    )


def _paths_of(model: InstalledModel, parts: Sequence[Path], root: Path, notes: list[str]) -> list[Path]:
    if _is_blob_of_ollama(model.path, root):
        return _of_ollama(model, root, notes)
    if hub_cache.repository_of(model.path) is not None:
        return _of_hub_cache(parts, notes)
    return [path for part in parts for path in (part, origin_path(part)) if os.path.lexists(path)]


def carry_out(deletion: Deletion, root: Path) -> int:
    """Delete for good what ``deletion`` says, then folders left empty; gives the bytes that this freed.

    Raises:
        VrambleError: ``not-deletable`` when it is refused, ``delete-failed`` when the system refuses.
    """
    refuse(deletion)
    freed = freed_by(deletion.paths)
    for number, path in enumerate(deletion.paths):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise _failed(deletion.paths, number, error) from error
    clear_folders(deletion, root)
    return freed


def _failed(paths: Sequence[Path], number: int, error: OSError) -> VrambleError:
    """What is gone by then, and what is left."""
    text = f"{shown(paths[number].name)} could not be deleted: {error.strerror or error}."
    gone = [path for path in paths[:number] if not path.name.startswith(".")]
    if gone:
        text += f" Deleted already: {', '.join(shown(path.name) for path in gone)}."
    step = "Check who owns the folder and whether it can be written to."
    return VrambleError("delete-failed", text, step, "\n".join(shown(path) for path in paths[number:]))


def clear_folders(deletion: Deletion, root: Path) -> None:
    """Remove folders that ``deletion`` left empty; Ollama's two stay."""
    for path in deletion.paths:
        inside = path.relative_to(root).parts if path.is_relative_to(root) else ()
        of_ollama = deletion.model.source is RootKind.OLLAMA and len(inside) > 1
        remove_empty(path.parent, root / inside[0] if of_ollama else root)


def refuse(deletion: Deletion) -> None:
    """Raise ``not-deletable`` when ``deletion`` is refused."""
    if deletion.refused:
        raise VrambleError("not-deletable", deletion.refused, "", shown(deletion.model.path))


def freed_by(paths: Iterable[Path]) -> int:
    """Bytes that the disk gets back when all of ``paths`` go: nothing for links and for files with other names."""
    return sum(info.st_blocks * 512 for info, gone in _files(paths) if info.st_nlink <= gone)


def _stays(model: InstalledModel, paths: Iterable[Path]) -> str:
    if not model.linked:
        return SECOND_NAME if _has_other_names(paths) else ""
    try:
        return ONLY_LINK.format(shown(model.path.resolve()))
    except (OSError, RuntimeError):
        return ONLY_LINK.format("the file that it points to")


def _has_other_names(paths: Iterable[Path]) -> bool:
    return any(info.st_nlink > gone for info, gone in _files(paths))


def _files(paths: Iterable[Path]) -> Iterable[tuple[os.stat_result, int]]:
    """The regular files behind ``paths``, and how many names of each are among them; origins are left out."""
    found: dict[tuple[int, int], tuple[os.stat_result, int]] = {}
    for path in paths:
        if path.name.startswith("."):
            continue
        try:
            info = path.lstat()
        except OSError:
            continue
        if stat.S_ISREG(info.st_mode):
            key = (info.st_dev, info.st_ino)
            found[key] = (info, found[key][1] + 1 if key in found else 1)
    return found.values()


def remove_empty(folder: Path, stop: Path) -> None:
    """Remove ``folder`` and those above it as long as they are empty; ``stop`` stays."""
    while folder != stop and folder.is_relative_to(stop) and not folder.is_symlink():
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _is_inside(part: Path, root: Path) -> bool:
    return part.parent.resolve().is_relative_to(root.resolve())


def _is_blob_of_ollama(path: Path, root: Path) -> bool:
    return path.parent == root / "blobs" and ollama.DIGEST.match(path.name) is not None


def _of_hub_cache(parts: Sequence[Path], notes: list[str]) -> list[Path]:
    """Links of the same path in all snapshots, and the blob once nothing points to it."""
    paths: list[Path] = []
    for part in parts:
        repository, blob = hub_cache.repository_of(part), hub_cache.blob_of(part)
        if repository is None or blob is None:
            paths.append(part)
            continue
        links = list(hub_cache.links_to(blob, repository))
        mine = [link for link in links if _below_snapshot(link, repository) == _below_snapshot(part, repository)]
        paths += mine
        if len(mine) == len(links):
            paths.append(blob)
        else:
            notes.append("Another file of the repository has the same bytes, so its space stays in use.")
        if len(mine) > 1:
            notes.append(f"It goes from all {len(mine)} revisions in the cache.")
    for repository in {found for part in parts if (found := hub_cache.repository_of(part)) is not None}:
        if not hub_cache.files_in(repository) - set(paths):
            paths += hub_cache.refs_of(repository)
    return paths


def _below_snapshot(link: Path, repository: Path) -> Path:
    return Path(*link.relative_to(repository / "snapshots").parts[1:])


def _of_ollama(model: InstalledModel, root: Path, notes: list[str]) -> list[Path]:
    """Manifests that name the model, and blobs that no other manifest needs."""
    match = ollama.DIGEST.match(model.path.name)
    digest = match[1] if match else ""
    named = list(ollama.manifests(root, [], []))
    mine = [one for one in named if digest in one.manifest.blobs]
    needed = set().union(*(one.manifest.blobs for one in named if one not in mine))
    blobs = set().union(*(one.manifest.blobs for one in mine)) - needed
    if len(mine) > 1:
        notes.append("These names go with it: " + ", ".join(sorted(one.name for one in mine)) + ".")
    paths = [ollama.blob_path(root, blob) for blob in sorted(blobs)]
    return [*(one.path for one in mine), *(path for path in paths if os.path.lexists(path))]


def _whose(model: InstalledModel) -> tuple[str, ...]:
    if not model.owner:
        return ()
    if model.source is RootKind.HUB_CACHE:
        return ("It lies in the cache of the Hugging Face Hub, which other programs use too.",)
    return (f"It belongs to {model.owner}, which will not have it any more.",)


def _refusal(paths: Iterable[Path], model: InstalledModel) -> str:
    for folder in dict.fromkeys(path.parent for path in paths):
        if not os.access(folder, os.W_OK | os.X_OK):
            whose = f"of {model.owner} " if model.owner else ""
            return f"The folder {whose}cannot be written to, so the model cannot be deleted here."
    return ""


def _way_out(model: InstalledModel) -> str:
    if model.state is FileState.ABSENT:
        return "Put the card or drive back."
    if model.source is RootKind.OLLAMA:
        return f"Delete it with: ollama rm {model.name}"
    if model.owner:
        return f"Delete it in {model.owner}."
    return "Delete it where it lies, or check who owns the folder."
