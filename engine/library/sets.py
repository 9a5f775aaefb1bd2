"""Files that are one model together, and whether they are whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from engine.library.gguf import HeaderProblem, ModelHeader
from engine.library.names import Part, piece_of, shard_name, shard_of, shown
from engine.library.states import FileState
from engine.library.walk import FoundFile

Header = ModelHeader | HeaderProblem


def grouped(files: Iterable[FoundFile]) -> Iterator[list[FoundFile]]:
    """Files that form one model together, members in order of their numbers."""
    groups: dict[tuple[Path, str], list[tuple[int, FoundFile]]] = {}
    for file in files:
        name = file.path.name
        part = shard_of(name) or piece_of(name)
        if part is None or not 1 <= part.no <= part.total:
            groups[file.path, ""] = [(0, file)]
        else:
            kind = "shard" if shard_of(name) else "piece"
            key = (file.path.parent / part.stem, f"{kind} {part.total}")
            groups.setdefault(key, []).append((part.no, file))
    for members in groups.values():
        yield [file for _, file in sorted(members, key=lambda member: member[0])]


def pieces_complete(files: list[FoundFile], piece: Part) -> bool:
    """All raw pieces of one file are there."""
    numbers = sorted(part.no for file in files if (part := piece_of(file.path.name)))
    return numbers == list(range(1, piece.total + 1))


def judge(files: list[FoundFile], headers: Mapping[Path, Header]) -> tuple[FileState, str, ModelHeader | None]:
    """State, sentence and leading header of one model."""
    first = files[0]
    header = headers[first.path]
    facts = header if isinstance(header, ModelHeader) else None
    for file in files:
        found = headers[file.path]
        if isinstance(found, HeaderProblem):
            return found.state, found.message, facts
    part = shard_of(first.path.name)
    split = facts.split if facts else None
    if part is None:
        if split is not None:
            return FileState.BAD_PART, _lone_part(first, split.no + 1, split.count, facts), facts
        return FileState.OK, "", facts
    if not 1 <= part.no <= part.total:
        return FileState.BAD_PART, f"The name says part {part.no} of {part.total}, and there is no such part.", facts
    if split is None and part.total > 1:
        return FileState.BAD_PART, "The name says that this is one part of several, and the file does not.", facts
    return _complete_set(files, part, headers, facts)


def _lone_part(file: FoundFile, no: int, count: int, facts: ModelHeader | None) -> str:
    if facts and file.size > facts.implied_size + 4096:
        return f"The {count} parts of this model were joined to one file; the engine needs them as they were."
    return f"This is part {no} of {count} of a model, under a name that does not say so."


def _complete_set(
    files: list[FoundFile], part: Part, headers: Mapping[Path, Header], facts: ModelHeader | None
) -> tuple[FileState, str, ModelHeader | None]:
    there = {shard.no for file in files if (shard := shard_of(file.path.name))}
    missing = [no for no in range(1, part.total + 1) if no not in there]
    if len(missing) == 1:
        return FileState.MISSING_PART, f"Part {missing[0]} of {part.total} is missing.", facts
    if missing:
        return FileState.MISSING_PART, f"{len(missing)} of {part.total} parts are missing.", facts
    for file in files:
        header, shard = headers[file.path], shard_of(file.path.name)
        split = header.split if isinstance(header, ModelHeader) else None
        if shard and (split is None or (split.no + 1, split.count) != (shard.no, shard.total)) and part.total > 1:
            return FileState.BAD_PART, f"{shown(shard_name(part, shard.no))} is not the part its name says.", facts
    return FileState.OK, "", facts
