"""Names of model files: split sets, raw pieces, what is shown."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from engine.library.gguf.tables import QUANT_IN_NAME, quant_in_name

SHARD = re.compile(r"^(?P<stem>.+)-(?P<no>\d{5})-of-(?P<count>\d{5})\.gguf$", re.IGNORECASE)
PIECE = re.compile(r"^(?P<stem>.+\.gguf)\.part(?P<no>\d+)of(?P<count>\d+)$", re.IGNORECASE)
VAGUE = {"model", "ggml-model", "gguf", "weights", "unsloth", "main"}
STARTER_OWNER = "starter"


class Part(NamedTuple):
    """Numbered member of a set of ``total``; ``no`` counts from 1."""

    stem: str
    no: int
    total: int


def shard_of(name: str) -> Part | None:
    """Place of a file called ``stem-00001-of-00003.gguf`` in its set."""
    return _part(SHARD.match(name))


def piece_of(name: str) -> Part | None:
    """Place of a raw piece called ``x.gguf.part1of2``."""
    return _part(PIECE.match(name))


def _part(match: re.Match[str] | None) -> Part | None:
    return Part(match["stem"], int(match["no"]), int(match["count"])) if match else None


def shard_name(part: Part, no: int) -> str:
    """File name of member ``no`` of the set of ``part``."""
    return f"{part.stem}-{no:05d}-of-{part.total:05d}.gguf"


def shown(path: Path | str) -> str:
    """``path`` as text that every part of the program can carry: wrong bytes become U+FFFD."""
    return os.fsencode(path).decode("utf-8", "replace")


def is_model_name(name: str) -> bool:
    """The file may be a model: by its ending, and not hidden."""
    return name.lower().endswith(".gguf") and not name.startswith(".")


def base_stem(file_name: str) -> str:
    """File name without ending and shard number."""
    part = shard_of(file_name)
    return part.stem if part else re.sub(r"\.gguf$", "", file_name, flags=re.IGNORECASE)


def short_name(file_name: str, header_name: str, parent: str) -> str:
    """What a model is called: the file's own name without quantisation, unless that says nothing."""
    stem = base_stem(file_name)
    plain = QUANT_IN_NAME.sub("", stem).strip("-._ ") or stem
    if plain.lower() in VAGUE or QUANT_IN_NAME.fullmatch(stem):
        return header_name or parent or stem
    return plain


def quant_label(file_name: str, header_quant: str) -> str:
    """Label for the quantisation: the header's, unless the name has a finer word of the same family."""
    named = quant_in_name(base_stem(file_name))
    family = header_quant.rpartition("_")[0] or header_quant
    if named and (not header_quant or (family and family in named)):
        return named
    return header_quant


def repo_of(relative: PurePosixPath) -> str | None:
    """``owner/repo`` of a file that lies at least two folders deep below the models folder."""
    parts = relative.parts
    if len(parts) < 3 or parts[0] == STARTER_OWNER:
        return None
    return shown(f"{parts[0]}/{parts[1]}")
