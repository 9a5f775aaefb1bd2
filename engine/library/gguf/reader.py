"""From a file to a `ModelHeader`, or to the reason why there is none."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeVar

from engine.library.gguf.cursor import Cursor, HeaderError, cut_off, damaged
from engine.library.gguf.metadata import Metadata, read_metadata
from engine.library.gguf.records import HeaderProblem, ModelHeader, Split
from engine.library.gguf.tables import FILE_TYPES, GUESSED
from engine.library.gguf.tensors import TensorEntry, TensorTable, read_tensors
from engine.library.sizes import size_text
from engine.library.states import FileState

DEFAULT_ALIGNMENT = 32
MAX_ALIGNMENT = 1 << 20
OLD_MAGICS = {b"ggml", b"lmgg", b"tjgg", b"ggjt", b"fmgg", b"ggmf", b"algg", b"ggla", b"nsgg"}
POINTER_START = b"version https://git-lfs"

Found = TypeVar("Found")


def read_file(path: Path) -> ModelHeader | HeaderProblem:
    """Header of the file at ``path``. Never raises for what the file holds or how it is protected."""
    return _opened(path, read_header)


def read_file_contents(path: Path) -> Contents | HeaderProblem:
    """`read_contents` of the file at ``path``. Raises as little as `read_file`."""
    return _opened(path, read_contents)


def _opened(path: Path, read: Callable[[BinaryIO, int], Found | HeaderProblem]) -> Found | HeaderProblem:
    try:
        # Not blocking: a pipe with the ending .gguf must not stop the scan.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            info = os.fstat(file.fileno())
            if not stat.S_ISREG(info.st_mode):
                return HeaderProblem(state=FileState.UNREADABLE, message="This is not a regular file.")
            return read(file, info.st_size)
    except OSError as error:
        text = f"The file cannot be read: {error.strerror or error}."
        return HeaderProblem(state=FileState.UNREADABLE, message=text)


@dataclass(frozen=True)
class Contents:
    """Everything that the header says: ``metadata`` as it lies there, and each tensor."""

    header: ModelHeader
    metadata: Metadata
    tensors: tuple[TensorEntry, ...]


def read_header(file: BinaryIO, size: int) -> ModelHeader | HeaderProblem:
    """Header of an open file of ``size`` bytes. Limits and errors as in `read_contents`."""
    found = _read(file, size, keep=False)
    return found.header if isinstance(found, Contents) else found


def read_contents(file: BinaryIO, size: int) -> Contents | HeaderProblem:
    """Header of an open file of ``size`` bytes, with its entries and its tensor table.

    Each count and length is compared with the bytes left before it is used, so the memory needed
    is a window of 256 KiB plus the kept numbers, whatever the bytes are. Raises OSError only.
    """
    return _read(file, size, keep=True)


def _read(file: BinaryIO, size: int, *, keep: bool) -> Contents | HeaderProblem:
    cursor = Cursor(file, size)
    try:
        version = _read_version(cursor, size)
        n_tensors, n_pairs = cursor.u64(), cursor.u64()
        metadata = read_metadata(cursor, n_pairs)
        alignment = _alignment(metadata)
        table = read_tensors(cursor, n_tensors, alignment, keep=keep)
        data_start = -(-cursor.position // alignment) * alignment if n_tensors else cursor.position
        _check_size(data_start + table.end, size)
        _check_lists(metadata)
        header = _header(version, metadata, table, data_start)
        return Contents(header, metadata, tuple(table.entries or ()))
    except HeaderError as error:
        return error.problem


def _problem(state: FileState, message: str) -> HeaderError:
    return HeaderError(HeaderProblem(state=state, message=message))


def _read_version(cursor: Cursor, size: int) -> int:
    start = cursor.take(min(size, 4))
    if start in OLD_MAGICS:
        raise _problem(FileState.OLD_FORMAT, "This is a GGML file, from before GGUF; the engine cannot read it.")
    if start != b"GGUF":
        rest = cursor.take(min(cursor.left, len(POINTER_START) - 4))
        if start + rest == POINTER_START:
            text = "This is only a pointer to the model, not the model itself; download the file again."
            raise _problem(FileState.POINTER, text)
        raise _problem(FileState.NOT_GGUF, "This is not a GGUF file." if size else "The file is empty.")
    version = cursor.u32()
    if version & 0xFFFF == 0 and version:
        raise _problem(FileState.BIG_ENDIAN, "The file was made for big-endian computers.")
    if version < 2:
        raise _problem(FileState.TOO_OLD, f"GGUF version {version} is too old for the engine.")
    if version > 3:
        raise _problem(FileState.TOO_NEW, f"GGUF version {version} is newer than what the engine reads.")
    if cursor.left < 16:
        raise cut_off()
    return version


def _alignment(metadata: Metadata) -> int:
    value = metadata.values.get("general.alignment", DEFAULT_ALIGNMENT)
    if not isinstance(value, int) or not 0 < value <= MAX_ALIGNMENT or value & (value - 1):
        raise damaged("The header gives an impossible alignment.")
    return value


def _check_size(implied: int, size: int) -> None:
    if implied > size:
        missing = implied - size
        text = f"The file is incomplete: {size_text(missing)} of {size_text(implied)} are missing."
        raise HeaderError(HeaderProblem(state=FileState.INCOMPLETE, message=text, missing_bytes=missing))


def _check_lists(metadata: Metadata) -> None:
    tokens = metadata.list_lengths.get("tokenizer.ggml.tokens")
    for name in ("scores", "token_type"):
        count = metadata.list_lengths.get(f"tokenizer.ggml.{name}")
        if tokens is not None and count is not None and count < tokens:
            raise damaged(f"The vocabulary is damaged: {count} {name} for {tokens} tokens.")


def _warnings(metadata: Metadata) -> tuple[str, ...]:
    tokens = metadata.list_lengths.get("tokenizer.ggml.tokens")
    if tokens is None:
        return ()
    found = []
    for key, what in (("eos", "end-of-text"), ("bos", "start-of-text")):
        value = metadata.values.get(f"tokenizer.ggml.{key}_token_id")
        if value is None and key == "eos":
            found.append(f"No {what} token is given.")
        elif isinstance(value, int) and not 0 <= value < tokens:
            found.append(f"The {what} token is outside of the vocabulary.")
    return tuple(found)


def _quant(metadata: Metadata, table: TensorTable) -> str:
    file_type = metadata.count("general.file_type")
    label = FILE_TYPES.get(file_type & ~GUESSED, "") if file_type is not None else ""
    return label or table.main_type


def _licence(metadata: Metadata) -> str:
    """In a word: many say ``other`` and give the name apart."""
    word = metadata.text("general.license").strip()
    name = metadata.text("general.license.name").strip()
    return " ".join((name if word.lower() in ("", "other", "unknown") and name else word).split())[:60]


def _split(metadata: Metadata) -> Split | None:
    count = metadata.count("split.count")
    if not count or count < 2:
        return None
    return Split(no=metadata.count("split.no") or 0, count=count)


def _header(version: int, metadata: Metadata, table: TensorTable, data_start: int) -> ModelHeader:
    arch = metadata.text("general.architecture")
    return ModelHeader(
        version=version,
        architecture=arch,
        name=metadata.text("general.name").strip(),
        kind=metadata.text("general.type"),
        quant=_quant(metadata, table),
        n_params=table.n_params,
        n_layers=metadata.count(f"{arch}.block_count"),
        context_length=metadata.count(f"{arch}.context_length"),
        embedding_length=metadata.count(f"{arch}.embedding_length"),
        has_template=metadata.has_template,
        pooling=metadata.count(f"{arch}.pooling_type"),
        split=_split(metadata),
        n_tensors=table.count,
        tensor_bytes=table.n_bytes,
        data_start=data_start,
        implied_size=data_start + table.end,
        warnings=_warnings(metadata),
        licence=_licence(metadata),
    )
