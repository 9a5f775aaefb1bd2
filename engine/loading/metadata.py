"""Single entries of a GGUF header that only loading asks for."""

from __future__ import annotations

from pathlib import Path

from engine.library.gguf.cursor import Cursor, HeaderError
from engine.library.gguf.metadata import Metadata, read_metadata

_MAGIC_AND_VERSION = 8


def file_metadata(path: Path) -> Metadata:
    """The entries of a file that `engine.library.gguf.read_file` has accepted; none when it cannot be read any more."""
    try:
        with path.open("rb") as file:
            cursor = Cursor(file, path.stat().st_size)
            cursor.skip(_MAGIC_AND_VERSION)
            cursor.u64()
            return read_metadata(cursor, cursor.u64())
    except (OSError, HeaderError):
        return Metadata()


def key_and_value_sizes(metadata: Metadata) -> tuple[set[int], set[int]]:
    """Sizes of the attention heads for keys and for values, as far as the file says."""
    arch = metadata.text("general.architecture")
    width, heads = metadata.count(f"{arch}.embedding_length"), metadata.count(f"{arch}.attention.head_count")
    default = width // heads if width and heads else None
    return _sizes(metadata, f"{arch}.attention.key_length", default), _sizes(
        metadata, f"{arch}.attention.value_length", default
    )


def _sizes(metadata: Metadata, key: str, default: int | None) -> set[int]:
    given = metadata.count(key)
    found = (given if given is not None else default, metadata.count(f"{key}_swa"))
    return {size for size in found if size}
