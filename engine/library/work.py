"""Long work on models: checking, moving, importing, joining. Each runs on a thread that is not the window's."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from engine.errors import VrambleError
from engine.library.deletion import carry_out, clear_folders, plan_deletion, refuse
from engine.library.hashing import Hashed, Progress, hashed_now, sha256_of
from engine.library.names import shown
from engine.library.origin import Origin, origin_path, read_origin
from engine.library.records import InstalledModel
from engine.library.roots import RootInfo
from engine.library.scan import scan
from engine.library.states import FileState
from engine.library.targets import check_source, check_target, pair_for_import, pairs_for_move
from engine.library.transfer import How, Room, link_file, move_files

NO_MODEL = frozenset({FileState.NOT_GGUF})


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it.

    Attributes:
        paths: Where models are now, each by its first file.
        hashed: Files that were read whole, where they lie now.
        wrong: Models whose bytes are not those that they should be.
    """

    paths: tuple[Path, ...] = ()
    hashed: tuple[Hashed, ...] = ()
    wrong: tuple[Path, ...] = ()


def verify(models: Sequence[InstalledModel], progress: Progress, hashed: list[Hashed] | None = None) -> Outcome:
    """Read every byte of ``models``; a model is wrong when a known sha256 differs, or its header is damaged.

    ``hashed`` gets each file once it was read, so that what was done is not lost when the rest is cancelled. Of
    several models one that cannot be read is wrong; a single one is an error.

    Raises:
        VrambleError: ``unreadable``.
        StoppedError: It was cancelled.
    """
    read = [] if hashed is None else hashed
    progress.total = sum(size_of(part) for model in models if not _hopeless(model) for part in model.parts)
    wrong: list[Path] = []
    for model in models:
        if _hopeless(model):
            wrong.append(model.path)
            continue
        try:
            right = [_is_right(model, part, progress, read) for part in model.parts]
        except OSError as error:
            if len(models) == 1:
                raise unreadable(Path(error.filename or model.path), error) from error
            right = [False]
        if not all(right) or model.state is not FileState.OK:
            wrong.append(model.path)
    return Outcome(hashed=tuple(read), wrong=tuple(wrong))


def _hopeless(model: InstalledModel) -> bool:
    """It is none, and nobody says what its bytes should be: reading them (a link may lead anywhere) tells nothing."""
    return model.state in NO_MODEL and not any(expected_hash(model, part) for part in model.parts)


def _is_right(model: InstalledModel, part: Path, progress: Progress, read: list[Hashed]) -> bool:
    found = sha256_of(part, progress)
    read.append(hashed_now(part, found))
    return expected_hash(model, part) in ("", found)


def expected_hash(model: InstalledModel, part: Path) -> str:
    """sha256 that ``part`` should have, by its origin or its owner's records; empty when nobody says."""
    origin = read_origin(part)
    if origin is not None and origin.sha256:
        return origin.sha256
    if model.checked is None and part in model.parts and len(model.hashes) == len(model.parts):
        return model.hashes[model.parts.index(part)]
    return _name_as_hash(part)


def _name_as_hash(part: Path) -> str:
    """The Hub cache and Ollama call a blob as its sha256."""
    with contextlib.suppress(OSError, RuntimeError):
        name = part.resolve().name.removeprefix("sha256-")
        if len(name) == 64 and all(sign in "0123456789abcdef" for sign in name):
            return name
    return ""


def move(
    model: InstalledModel, source: RootInfo, target: RootInfo, progress: Progress, along: tuple[Path, ...] = ()
) -> Outcome:
    """Bring ``model`` to another root, and ``along`` (files of its folder) with it.

    Raises:
        VrambleError: As `move_files`; ``not-a-target``, ``not-deletable``.
        StoppedError: It was cancelled; the source is whole.
    """
    check_target(target)
    deletion = plan_deletion(model, source.path)
    refuse(deletion)
    origins = [_origin_of(model, part) for part in (*model.parts, *along)]
    pairs = pairs_for_move(model, source.path, target.path, along)
    owned = bool(model.owner)
    hashes = move_files(pairs, progress, _room(target), keep_source=owned)
    for pair, origin in zip(pairs, origins, strict=True):
        _write_origin(pair.target, origin)
        if not owned:
            _drop_origin(pair.source)
    if owned:
        _take_from_owner(model, source, pairs[0].target)
    else:
        clear_folders(deletion, source.path)
    done = tuple(hashed_now(pair.target, sha256) for pair, sha256 in zip(pairs, hashes, strict=True) if sha256)
    return Outcome(paths=(pairs[0].target,), hashed=done)


def _take_from_owner(model: InstalledModel, source: RootInfo, target: Path) -> None:
    """Delete what was copied. Planned anew: its owner may have got another model of the same bytes meanwhile."""
    try:
        carry_out(plan_deletion(model, source.path), source.path)
    except VrambleError as error:
        text = (
            f"{model.label} is at {shown(target)} now, whole and checked; the original is still there: {error.message}"
        )
        raise VrambleError("source-stays", text, error.next_step, error.detail) from error


def bring(
    paths: Sequence[Path], how: How, target: RootInfo, progress: Progress, roots: Sequence[RootInfo] = ()
) -> Outcome:
    """Put model files, or all models of a folder, into the root ``target``; ``roots`` are all there are.

    Raises:
        VrambleError: ``not-a-model``, ``not-a-target``, as `check_source` or `move_files`.
        StoppedError: It was cancelled; models that were not done are as they were.
    """
    check_target(target)
    for path in paths:
        check_source(path, roots, taken_away=how is How.MOVE)
    models = [model for path in paths for model in _models_at(path)]
    done: list[Path] = []
    hashed: list[Hashed] = []
    for model in models:
        pairs = tuple(pair_for_import(part, target.path) for part in model.parts)
        origins = [_origin_of(model, part) for part in model.parts]
        if how is How.LINK:
            for pair in pairs:
                link_file(pair)
        else:
            hashes = move_files(pairs, progress, _room(target), keep_source=how is How.COPY)
            hashed += (hashed_now(pair.target, sha256) for pair, sha256 in zip(pairs, hashes, strict=True) if sha256)
        for pair, origin in zip(pairs, origins, strict=True):
            _write_origin(pair.target, origin)
            if how is How.MOVE:
                _drop_origin(pair.source)
        done.append(pairs[0].target)
    return Outcome(paths=tuple(done), hashed=tuple(hashed))


def _models_at(path: Path) -> list[InstalledModel]:
    """The model that the file ``path`` is or is a part of; all usable ones of a folder."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except (OSError, ValueError):
        raise VrambleError("no-such-file", f"There is no file {shown(path)}.") from None
    found = scan(path if is_folder else path.parent)
    every = (*found.models, *found.companions)
    if is_folder:
        usable = [model for model in every if model.state is FileState.OK]
        if not usable:
            raise VrambleError("not-a-model", f"{shown(path)} holds no model that could be brought in.")
        return usable
    fitting = [model for model in every if path in (model.path, *model.parts)]
    if not fitting or fitting[0].state is not FileState.OK:
        reason = fitting[0].problem if fitting else "Its name does not end in .gguf."
        raise VrambleError("not-a-model", f"{shown(path.name)} cannot be imported: {reason}")
    return fitting[:1]


def unreadable(path: Path, error: OSError) -> VrambleError:
    """The system does not let ``path`` be read."""
    text = f"{shown(path)} cannot be read: {error.strerror or error}."
    return VrambleError("unreadable", text, "Check the drive.", str(error))


def size_of(path: Path) -> int:
    """Bytes of a file, 0 when it is not there."""
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _room(target: RootInfo) -> Room:
    return Room(free=target.free, file_limit=target.file_limit)


def _origin_of(model: InstalledModel, part: Path) -> Origin | None:
    """What is known of where ``part`` comes from, also where its owner and not a file beside it knows."""
    origin = read_origin(part)
    if origin is not None or part not in model.parts or not model.owner:
        return origin
    sha256 = expected_hash(model, part)
    if not sha256 and model.repo is None:
        return None
    return Origin(
        repo=model.repo or "", commit=model.commit, path=model.file, size=size_of(part), sha256=sha256 or None
    )


def _write_origin(path: Path, origin: Origin | None) -> None:
    """A model without its origin still works, so a failure here is none of the move."""
    if origin is not None:
        with contextlib.suppress(OSError):
            origin_path(path).write_bytes(msgspec.json.encode(origin))


def _drop_origin(path: Path) -> None:
    with contextlib.suppress(OSError):
        origin_path(path).unlink(missing_ok=True)
