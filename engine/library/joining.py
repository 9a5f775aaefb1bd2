"""Making one file of several: raw pieces that belong together, and copies that are the same."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path

from engine.errors import VrambleError
from engine.library.copying import open_draft, sync_folder, temporary
from engine.library.gguf import HeaderProblem, read_file
from engine.library.hashing import Progress, hashed_now, sha256_of
from engine.library.names import piece_of, shown
from engine.library.records import InstalledModel, Mend
from engine.library.regular import open_regular
from engine.library.transfer import reflink
from engine.library.work import Outcome, size_of


def join(model: InstalledModel, progress: Progress) -> Outcome:
    """Put raw pieces together to the file that they are of, check its header, and delete the pieces.

    Raises:
        VrambleError: ``not-pieces``, ``no-space``, ``join-failed``, ``already-there``: the pieces are as they were;
            ``pieces-stay``: the file is there and whole, pieces are left over.
        StoppedError: It was cancelled; the pieces are whole.
    """
    piece = piece_of(model.path.name)
    if Mend.JOIN not in model.mends or piece is None:
        raise VrambleError("not-pieces", f"{model.label} is not in pieces.")
    target = model.path.with_name(piece.stem)
    if os.path.lexists(target):
        raise VrambleError("already-there", f"Another file is already at {shown(target)}.", "Rename or delete it.")
    draft = temporary(target)
    try:
        progress.total = sum(size_of(part) for part in model.parts)
        handle = open_draft(draft)
        try:
            _append_all(model.parts, handle, progress)
            os.fsync(handle)
            _check_joined(draft)
            if os.path.lexists(target):  # it came while the draft grew
                raise FileExistsError(errno.EEXIST, "another file came to be there", os.fspath(target))
            draft.rename(target)
        finally:
            os.close(handle)
            draft.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        step = "The pieces are as they were. Check the drive and its free space."
        raise VrambleError("join-failed", f"{model.label} could not be joined: {reason}.", step) from error
    sync_folder(target.parent)
    _drop_pieces(model.parts, target)
    return Outcome(paths=(target,))


def _drop_pieces(parts: Sequence[Path], target: Path) -> None:
    """Delete the pieces; those that stay are told."""
    stay: list[tuple[Path, OSError]] = []
    for part in parts:
        try:
            part.unlink(missing_ok=True)
        except OSError as error:
            stay.append((part, error))
    if not stay:
        return
    reason = stay[0][1].strerror or str(stay[0][1])
    which = "its pieces" if len(stay) == len(parts) else f"{len(stay)} of its {len(parts)} pieces"
    raise VrambleError(
        "pieces-stay",
        f"{shown(target.name)} is whole and can be used; {which} could not be deleted: {reason}.",
        "Delete them where they lie: they are not needed any more.",
        "\n".join(shown(part) for part, _ in stay),
    )


def _append_all(parts: Sequence[Path], handle: int, progress: Progress) -> None:
    for part in parts:
        with open_regular(part) as file:
            while block := file.read(4 << 20):
                view = memoryview(block)
                while view:
                    view = view[os.write(handle, view) :]
                progress.add(len(block))


def _check_joined(path: Path) -> None:
    found = read_file(path)
    if isinstance(found, HeaderProblem):
        raise VrambleError("join-failed", f"The pieces do not make a model: {found.message}", "Get them again.")


def share(model: InstalledModel, other: InstalledModel, progress: Progress) -> Outcome:
    """Let ``model`` use the bytes of ``other`` on the disk, after all of both were compared.

    Raises:
        VrambleError: ``not-the-same``, ``other-drive``, ``changed-meanwhile``, ``share-failed``.
        StoppedError: It was cancelled; both are as they were.
    """
    pairs = list(zip(model.parts, other.parts, strict=False))
    if len(model.parts) != len(other.parts):
        raise _not_the_same(model, other)
    try:
        hashes = _compared(model, other, pairs, progress)
    except OSError as error:
        raise _not_shared(error) from error
    for number, (mine, its) in enumerate(pairs):
        try:
            _replace_by(mine, its.resolve(strict=True))
        except OSError as error:
            raise _not_shared(error, mine, number, len(pairs)) from error
    both = zip((path for pair in pairs for path in pair), (one for one in hashes for _ in pairs[0]), strict=True)
    return Outcome(paths=(model.path,), hashed=tuple(hashed_now(path, sha256) for path, sha256 in both))


def _compared(
    model: InstalledModel, other: InstalledModel, pairs: Sequence[tuple[Path, Path]], progress: Progress
) -> list[str]:
    """sha256 of each pair, when both of it have the same; none of them may change meanwhile. Raises OSError."""
    if any(mine.stat().st_dev != its.stat().st_dev for mine, its in pairs):
        raise VrambleError(
            "other-drive", "The two lie on different drives, so they cannot be one file.", "Delete one of them."
        )
    before = [_state(path) for pair in pairs for path in pair]
    progress.total = 2 * sum(size_of(its) for _, its in pairs)
    hashes = []
    for mine, its in pairs:
        hashes.append(sha256_of(its, progress))
        if sha256_of(mine, progress) != hashes[-1]:
            raise _not_the_same(model, other)
    if before != [_state(path) for pair in pairs for path in pair]:
        text = f"{model.label} or {other.label} changed while they were compared."
        raise VrambleError("changed-meanwhile", text, "Nothing was changed here. Try again once nobody writes them.")
    return hashes


def _state(path: Path) -> tuple[int, int, int]:
    info = path.stat()
    return info.st_ino, info.st_size, info.st_mtime_ns


def _not_shared(error: OSError, path: Path | None = None, done: int = 0, count: int = 1) -> VrambleError:
    """What became of each: a file is replaced as a whole, so all of them are there and right."""
    reason = error.strerror or str(error)
    if done and path is not None:
        text = f"{done} of {count} files take their room once now; {shown(path.name)} could not be joined: {reason}."
        return VrambleError("share-failed", text, "All files are there and whole. Try again.", str(error))
    text = f"The two could not be made one file: {reason}."
    return VrambleError("share-failed", text, "Both are as they were. Delete one of them.", str(error))


def _replace_by(path: Path, source: Path) -> None:
    """Make ``path`` another name of ``source``, or a file that shares its blocks. At every moment there is a file."""
    draft = temporary(path)
    draft.unlink(missing_ok=True)
    try:
        try:
            os.link(source, draft)
        except OSError:
            if not reflink(source, draft):
                raise
        draft.rename(path)
    finally:
        draft.unlink(missing_ok=True)


def _not_the_same(model: InstalledModel, other: InstalledModel) -> VrambleError:
    text = f"{model.label} and {other.label} look the same and are not: their bytes differ."
    return VrambleError("not-the-same", text, "Nothing was changed.", f"{shown(model.path)}\n{shown(other.path)}")
