"""From the files of one model to its `InstalledModel`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import msgspec

from engine.library.gguf import HeaderProblem, ModelHeader
from engine.library.index import Entry
from engine.library.mending import mends_of
from engine.library.names import piece_of, quant_label, repo_of, short_name, shown
from engine.library.records import InstalledModel, Role
from engine.library.roles import role_of
from engine.library.roots import LibraryRoot, RootKind
from engine.library.sets import judge, pieces_complete
from engine.library.states import FileState
from engine.library.walk import FoundFile

OWNER_AND_REPO = (RootKind.OWN, RootKind.LM_STUDIO)
"""Kinds whose folders are called ``owner/repo``."""

WRONG_BYTES = "Its bytes are not those that were published: the checksum is wrong."


class EntryMaker:
    """Makes the entries of one root."""

    def __init__(self, root: LibraryRoot, path: Path, known: Mapping[Path, Entry], used: Mapping[str, float]) -> None:
        """``known`` has what the index knows of each file; ``used`` when a path was loaded last."""
        self._root = root
        self._path = path
        self._known = known
        self._used = used

    def entry(self, files: list[FoundFile]) -> InstalledModel | None:
        """The model that ``files`` are, None for raw pieces that are not all there."""
        piece = piece_of(files[0].path.name)
        if piece is not None:
            if not pieces_complete(files, piece):
                return None
            text = f"These are {piece.total} raw pieces of one file; join them first."
            return self._record(files, None, FileState.RAW_PIECES, text)
        headers = {file.path: self._header(file) for file in files}
        state, problem, facts = judge(files, headers)
        return self._record(files, facts, state, problem)

    def _header(self, file: FoundFile) -> ModelHeader | HeaderProblem:
        found = self._known[file.path].found
        return found if found is not None else HeaderProblem(state=FileState.UNREADABLE, message="Not read yet.")

    def _record(
        self, files: list[FoundFile], facts: ModelHeader | None, state: FileState, problem: str
    ) -> InstalledModel:
        role, why_not = role_of(facts) if facts else (Role.UNKNOWN, "")
        verified, checked = self._checks(files)
        if verified is False and state is FileState.OK:
            state, problem = FileState.DAMAGED, WRONG_BYTES
        plain = self._plain(files, facts)
        headers = [self._known[file.path].header for file in files if file.path in self._known]
        model = msgspec.structs.replace(
            plain,
            state=state,
            problem=problem or why_not,
            can_chat=state is FileState.OK and role is Role.CHAT,
            role=role,
            n_params=sum(header.n_params for header in headers if header) or None,
            verified=verified,
            checked=checked,
        )
        described = all(file.described for file in files)
        return msgspec.structs.replace(model, mends=mends_of(model, described=described))

    def _plain(self, files: list[FoundFile], facts: ModelHeader | None) -> InstalledModel:
        first, known = files[0], files[0].known
        piece = piece_of(first.path.name)
        file_name = known.title or shown(piece.stem if piece else first.path.name)
        name = known.title or short_name(file_name, facts.name if facts else "", shown(first.path.parent.name))
        quant = quant_label("" if known.title else file_name, facts.quant if facts else "")
        return InstalledModel(
            path=first.path,
            name=name,
            label=name if quant and name.casefold().endswith(quant.casefold()) else f"{name} {quant}".strip(),
            quant=quant,
            architecture=facts.architecture if facts else "",
            size_bytes=sum(file.size for file in files),
            frees_bytes=sum(file.allocated for file in files if not file.linked and file.links == 1),
            folder=first.path.parent,
            repo=known.repo or self._repo(first.path),
            parts=tuple(file.path for file in files),
            linked=first.linked,
            n_layers=facts.n_layers if facts else None,
            context_length=facts.context_length if facts else None,
            has_template=facts.has_template if facts else False,
            warnings=(*(facts.warnings if facts else ()), *((known.note,) if known.note else ())),
            source=self._root.kind,
            root=self._root.id,
            owner=self._root.owner,
            also=known.also,
            belongs_to=known.of,
            licence=known.licence or (facts.licence if facts else ""),
            last_used=self._used.get(shown(first.path)),
            commit=known.commit,
            file=known.file,
            hashes=tuple(self._hash(file) for file in files),
        )

    def _repo(self, path: Path) -> str | None:
        if self._root.kind not in OWNER_AND_REPO or not path.is_relative_to(self._path):
            return None
        return repo_of(PurePosixPath(path.relative_to(self._path)))

    def _hash(self, file: FoundFile) -> str:
        entry = self._known.get(file.path)
        return (entry.sha256 if entry else "") or file.known.sha256

    def _checks(self, files: list[FoundFile]) -> tuple[bool | None, float | None]:
        """Whether all bytes are right as far as they were hashed, and when the first of them was."""
        entries = [self._known.get(file.path) for file in files]
        results = [
            entry.sha256 == file.known.sha256
            for entry, file in zip(entries, files, strict=True)
            if entry and entry.sha256 and file.known.sha256
        ]
        times = [entry.checked for entry in entries if entry and entry.checked is not None]
        checked = min(times) if len(times) == len(files) else None
        if False in results:
            return False, checked
        return (True if len(results) == len(files) else None), checked
