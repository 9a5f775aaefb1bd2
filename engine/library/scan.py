"""From a models folder to `InstalledModel` records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath

from engine.library.gguf import HeaderProblem, ModelHeader, read_file
from engine.library.names import Part, piece_of, quant_label, repo_of, shard_name, shard_of, short_name, shown
from engine.library.records import InstalledModel, Role, ScanResult
from engine.library.roles import is_companion, role_of
from engine.library.states import FileState
from engine.library.walk import FoundFile, walk

Header = ModelHeader | HeaderProblem


class Scanner:
    """Scans one models folder; remembers headers of files that did not change.

    ``stop`` is asked between files: a scan that is stopped gives what it has.
    """

    def __init__(self, root: Path, stop: Callable[[], bool] = lambda: False) -> None:
        self._root = root
        self._stop = stop
        self._headers: dict[tuple[int, int, int, int], Header] = {}

    def scan(self) -> ScanResult:
        """Everything below the folder now. A missing folder is a result, and none is made."""
        if not self._root.is_dir():
            return ScanResult(folder_missing=True)
        found = walk(self._root, self._stop)
        headers = {file.path: self._header(file) for file in found.files if not piece_of(file.path.name)}
        self._headers = {file.key: headers[file.path] for file in found.files if file.path in headers}
        models: list[InstalledModel] = []
        companions: list[InstalledModel] = []
        for files in _grouped(found.files):
            model = self._entry(files, headers)
            if model is not None:
                header = headers.get(files[0].path)
                aside = isinstance(header, ModelHeader) and is_companion(header)
                (companions if aside else models).append(model)
        return ScanResult(
            models=tuple(sorted(models, key=_order)),
            companions=tuple(sorted(companions, key=_order)),
            problems=found.problems,
        )

    def _header(self, file: FoundFile) -> Header:
        known = self._headers.get(file.key)
        if known is None and self._stop():
            return HeaderProblem(state=FileState.UNREADABLE, message="The scan was stopped.")
        return known if known is not None else read_file(file.path)

    def _entry(self, files: list[FoundFile], headers: dict[Path, Header]) -> InstalledModel | None:
        first = files[0]
        piece = piece_of(first.path.name)
        if piece is not None:
            return self._pieces(files, piece)
        state, problem, facts = _judge(files, headers)
        role, why_not = role_of(facts) if facts else (Role.UNKNOWN, "")
        usable = state is FileState.OK
        return self._record(
            files,
            facts,
            role=role,
            state=state,
            problem=problem or why_not,
            can_chat=usable and role is Role.CHAT,
            n_params=sum(h.n_params for f in files if isinstance(h := headers[f.path], ModelHeader)) or None,
        )

    def _pieces(self, files: list[FoundFile], piece: Part) -> InstalledModel | None:
        numbers = sorted(part.no for file in files if (part := piece_of(file.path.name)))
        if numbers != list(range(1, piece.total + 1)):
            return None
        text = f"These are {piece.total} raw pieces of one file; join them first."
        return self._record(files, None, state=FileState.RAW_PIECES, problem=text)

    def _record(
        self,
        files: list[FoundFile],
        facts: ModelHeader | None,
        *,
        state: FileState,
        problem: str,
        role: Role = Role.UNKNOWN,
        can_chat: bool = False,
        n_params: int | None = None,
    ) -> InstalledModel:
        first = files[0]
        file_name = shown(first.path.name)
        name = short_name(file_name, facts.name if facts else "", shown(first.path.parent.name))
        quant = quant_label(file_name, facts.quant if facts else "")
        return InstalledModel(
            path=first.path,
            name=name,
            label=f"{name} {quant}".strip(),
            quant=quant,
            architecture=facts.architecture if facts else "",
            size_bytes=sum(file.size for file in files),
            frees_bytes=sum(file.allocated for file in files if not file.linked and file.links == 1),
            folder=first.path.parent,
            repo=repo_of(PurePosixPath(first.path.relative_to(self._root))),
            state=state,
            problem=problem,
            can_chat=can_chat,
            role=role,
            parts=tuple(file.path for file in files),
            linked=first.linked,
            n_params=n_params,
            n_layers=facts.n_layers if facts else None,
            context_length=facts.context_length if facts else None,
            has_template=facts.has_template if facts else False,
            warnings=facts.warnings if facts else (),
        )


def scan(root: Path) -> ScanResult:
    """One scan without memory of earlier ones."""
    return Scanner(root).scan()


def _order(model: InstalledModel) -> tuple[str, str, str]:
    return model.name.lower(), model.quant, shown(model.path)


def _grouped(files: Iterable[FoundFile]) -> Iterator[list[FoundFile]]:
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


def _judge(files: list[FoundFile], headers: dict[Path, Header]) -> tuple[FileState, str, ModelHeader | None]:
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
    files: list[FoundFile], part: Part, headers: dict[Path, Header], facts: ModelHeader | None
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
