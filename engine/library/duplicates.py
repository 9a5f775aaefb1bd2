"""Models that are there twice."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.library.index import Index
from engine.library.mending import mends_of
from engine.library.records import InstalledModel
from engine.library.regular import open_regular
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
    groups: dict[tuple[object, ...], list[InstalledModel]] = {}
    for model in models:
        if model.state is FileState.OK:
            groups.setdefault(_shape(model, files_of), []).append(model)
    twins: dict[Path, InstalledModel] = {}
    for group in groups.values():
        if len(group) > 1 and not stop():
            twins.update((twin.path, twin) for twin in _twins(group, files_of, index))
    return tuple(twins.get(model.path, model) for model in models)


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


def _twins(group: Sequence[InstalledModel], files_of: FilesOf, index: Index) -> Iterator[InstalledModel]:
    """Those of one shape that an earlier one has the bytes of."""
    files: dict[tuple[tuple[int, int], ...], InstalledModel] = {}
    hashed: dict[tuple[str, ...], InstalledModel] = {}
    sampled: dict[tuple[str, ...], list[InstalledModel]] = {}
    sampling = not all(all(model.hashes) for model in group)
    for model in group:
        mine = files_of.get(model.path, ())
        identity = tuple(file.identity for file in mine)
        known = all(model.hashes)
        samples = tuple(_sample(file, index) for file in mine) if sampling and identity not in files else ()
        others = sampled.get(samples, []) if all(samples) else []
        likely = next((other for other in others if not (known and all(other.hashes))), None)
        if identity in files:
            yield _marked(model, files[identity], same_file=True)
        elif known and model.hashes in hashed:
            yield _marked(model, hashed[model.hashes])
        elif likely is not None:
            yield _marked(model, likely, likely=True)
        else:
            files[identity] = model
            hashed.setdefault(model.hashes, model)
            sampled.setdefault(samples, []).append(model)


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
    with open_regular(path) as file:
        for number in range(BLOCKS):
            file.seek(last * number // (BLOCKS - 1))
            digest.update(file.read(BLOCK_BYTES))
    return digest.hexdigest()
