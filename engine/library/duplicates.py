"""Models that are there twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.library.index import Index
from engine.library.mending import mends_of
from engine.library.records import InstalledModel
from engine.library.states import FileState
from engine.library.walk import FoundFile

BLOCKS = 16
BLOCK_BYTES = 64 * 1024

FilesOf = Mapping[Path, tuple[FoundFile, ...]]


def mark(
    models: Sequence[InstalledModel], files_of: FilesOf, index: Index, stop: Callable[[], bool] = lambda: False
) -> tuple[InstalledModel, ...]:
    """``models`` with ``duplicate_of`` set for each that an earlier one has the bytes of.

    Only models of one size and header are compared: by device and inode, by their sha256 where both
    are known, else by samples of 1 MiB, which makes a likely duplicate.
    """
    firsts: dict[tuple[object, ...], list[InstalledModel]] = {}
    result = []
    for model in models:
        if model.state is not FileState.OK:
            result.append(model)
            continue
        same_shape = firsts.setdefault(_shape(model, files_of), [])
        twin = next((mark for other in same_shape if (mark := _compared(model, other, files_of, index, stop))), None)
        if twin is None:
            same_shape.append(model)
        result.append(twin or model)
    return tuple(result)


def unsure(models: Iterable[InstalledModel]) -> tuple[InstalledModel, ...]:
    """Likely duplicates and what they seem to be duplicates of: to be hashed."""
    by_path = {model.path: model for model in models}
    found: dict[Path, InstalledModel] = {}
    for model in by_path.values():
        if model.likely_duplicate and model.duplicate_of in by_path:
            for one in (by_path[model.duplicate_of], model):
                if not all(one.hashes):
                    found[one.path] = one
    return tuple(found.values())


def _shape(model: InstalledModel, files_of: FilesOf) -> tuple[object, ...]:
    sizes = tuple(file.size for file in files_of.get(model.path, ()))
    return (sizes, model.architecture, model.n_params, model.n_layers, model.context_length, model.quant)


def _compared(
    model: InstalledModel, other: InstalledModel, files_of: FilesOf, index: Index, stop: Callable[[], bool]
) -> InstalledModel | None:
    """``model`` as a duplicate of ``other``, None when it is none."""
    mine, its = files_of.get(model.path, ()), files_of.get(other.path, ())
    if [file.identity for file in mine] == [file.identity for file in its]:
        return _marked(model, other, same_file=True)
    if all(model.hashes) and all(other.hashes):
        return _marked(model, other) if model.hashes == other.hashes else None
    if stop():
        return None
    samples = [(_sample(one, index), _sample(two, index)) for one, two in zip(mine, its, strict=True)]
    return _marked(model, other, likely=True) if all(one and one == two for one, two in samples) else None


def _marked(
    model: InstalledModel, other: InstalledModel, *, same_file: bool = False, likely: bool = False
) -> InstalledModel:
    model = msgspec.structs.replace(model, duplicate_of=other.path, same_file=same_file, likely_duplicate=likely)
    return msgspec.structs.replace(model, mends=mends_of(model, described=False))


def _sample(file: FoundFile, index: Index) -> str:
    entry = index.get(file)
    if entry is not None and entry.sample:
        return entry.sample
    try:
        sample = sample_of(file.path, file.size)
    except OSError:
        return ""
    if entry is not None:
        index.note(entry, sample=sample)
    return sample


def sample_of(path: Path, size: int) -> str:
    """Hash of 16 blocks of 64 KiB, spread evenly from the first to the last. Raises OSError."""
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    last = max(size - BLOCK_BYTES, 0)
    with path.open("rb", buffering=0) as file:
        for number in range(BLOCKS):
            file.seek(last * number // (BLOCKS - 1))
            digest.update(file.read(BLOCK_BYTES))
    return digest.hexdigest()
