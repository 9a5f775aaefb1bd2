"""Models of which only the header is here: read out of the sparse file of a download child, and kept as small files."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from engine.library.gguf import HeaderProblem
from engine.memory.fit.header import read_model
from engine.memory.fit.records import FitModel

VERSION: Final = 1
"""Raise it when `FitModel` is made otherwise: what was kept before is then read again."""

MOST_FILES: Final = 500

_decoder = msgspec.json.Decoder(FitModel)


def cache_name(repo: str, revision: str, path: str, size: int | None) -> str:
    """Name of the file that keeps one model."""
    text = "\n".join((str(VERSION), repo, revision, path, str(size)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".json"


def find_kept(folder: Path, name: str) -> FitModel | None:
    """What was kept; None when nothing was, or nothing that can be read."""
    try:
        return _decoder.decode((folder / name).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def begin_reading(folder: Path) -> Path:
    """A new folder for the headers of one model. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix="header-", dir=folder))


def end_reading(headers: Path, path: Path | None, folder: Path, name: str) -> FitModel | None:
    """The model whose header lies at ``path`` in ``headers``, which goes; it is kept for the next time.

    None where it is no model. Nothing is raised for a disk that is full: it is read again another time.
    """
    try:
        found = None if path is None else read_model(path)
    finally:
        shutil.rmtree(headers, ignore_errors=True)
    if found is None or isinstance(found, HeaderProblem):
        return None
    _keep(folder, name, found)
    return found


def _keep(folder: Path, name: str, model: FitModel) -> None:
    try:
        new = folder / f"{name}.new"
        new.write_bytes(msgspec.json.encode(model))
        new.replace(folder / name)
        kept = sorted(folder.glob("*.json"), key=lambda file: file.stat().st_mtime)
        for old in kept[:-MOST_FILES]:
            old.unlink(missing_ok=True)
    except OSError:
        return


def scaled_to(model: FitModel, size: int, n_bytes: int) -> FitModel:
    """``model``, whose file has ``size`` bytes, as another quant with a file of ``n_bytes``: layers shrink alike."""
    header = max(0, size - model.weights)
    part = max(0, n_bytes - header) / model.weights if model.weights else 0.0
    return scaled(model, part)


def scaled(model: FitModel, part: float) -> FitModel:
    """``model`` with weights of so much of their size."""
    pieces = tuple(msgspec.structs.replace(piece, n_bytes=int(piece.n_bytes * part)) for piece in model.pieces)
    return msgspec.structs.replace(
        model,
        pieces=pieces,
        tied=int(model.tied * part),
        largest=int(model.largest * part),
        largest_expert=int(model.largest_expert * part),
    )
