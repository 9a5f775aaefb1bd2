"""From a folder of models to `InstalledModel` records."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.library import hub_cache, ollama
from engine.library.entries import EntryMaker
from engine.library.gguf import HeaderProblem, read_file
from engine.library.hashing import Hashed
from engine.library.index import Entry, Index
from engine.library.names import piece_of, shown
from engine.library.origin import read_origin
from engine.library.records import InstalledModel, ScanResult
from engine.library.roles import is_companion
from engine.library.roots import LibraryRoot, RootKind
from engine.library.sets import grouped
from engine.library.states import FileState
from engine.library.walk import FoundFile, Known, Walk, walk

NEVER: Callable[[], bool] = lambda: False  # noqa: E731


class Checked(msgspec.Struct, frozen=True):
    """A file was hashed, at ``when`` in seconds since 1970."""

    hashed: Hashed
    when: float

    def fits(self, file: FoundFile) -> bool:
        """``file`` has the bytes that were hashed."""
        return (self.hashed.size, self.hashed.mtime_ns) == (file.key[2], file.key[3])


class RootScan(msgspec.Struct, frozen=True, kw_only=True):
    """One root, as it is now.

    Attributes:
        models, companions, problems: As in `ScanResult`.
        files: The files of each model and companion, by its path.
        folders: Where something may change.
        left_over: Copies that were not finished.
    """

    models: tuple[InstalledModel, ...] = ()
    companions: tuple[InstalledModel, ...] = ()
    problems: tuple[str, ...] = ()
    files: Mapping[Path, tuple[FoundFile, ...]] = {}
    folders: tuple[Path, ...] = ()
    left_over: tuple[Path, ...] = ()

    @property
    def n_files(self) -> int:
        """Model files."""
        return sum(len(files) for files in self.files.values())

    @property
    def n_bytes(self) -> int:
        """Bytes on disk; a file with several names counts once, a link to a file elsewhere not at all."""
        every = (file for files in self.files.values() for file in files if not file.linked)
        return sum({file.identity: file.allocated for file in every}.values())


class Scanner:
    """Scans one models folder by itself; remembers headers of files that did not change.

    ``stop`` is asked between files: a scan that is stopped gives what it has.
    """

    def __init__(self, root: Path, stop: Callable[[], bool] = NEVER) -> None:
        self._root = root
        self._stop = stop
        self._index = Index()

    def scan(self) -> ScanResult:
        """Everything below the folder now. A missing folder is a result, and none is made."""
        if not self._root.is_dir():
            return ScanResult(folder_missing=True)
        found = scan_root(LibraryRoot(kind=RootKind.OWN, path=str(self._root)), self._root, self._index, self._stop)
        return ScanResult(models=in_order(found.models), companions=in_order(found.companions), problems=found.problems)


def scan(root: Path) -> ScanResult:
    """One scan without memory of earlier ones."""
    return Scanner(root).scan()


def scan_root(
    root: LibraryRoot,
    path: Path,
    index: Index,
    stop: Callable[[], bool] = NEVER,
    *,
    others: Container[tuple[int, int]] = frozenset(),
    used: Mapping[str, float] | None = None,
    hashed: Mapping[Path, Checked] | None = None,
) -> RootScan:
    """The models of ``root``, which lies at ``path`` now.

    Folders whose device and inode are in ``others`` are left out; ``used`` is when a path was loaded last,
    ``hashed`` what was hashed since the last scan.
    """
    found = look(root.kind, path, stop, others)
    known = _known_of(found.files, index, stop, hashed or {})
    maker = EntryMaker(root, path, known, used or {})
    models: list[InstalledModel] = []
    companions: list[InstalledModel] = []
    files_of: dict[Path, tuple[FoundFile, ...]] = {}
    for files in grouped(found.files):
        model = maker.entry(files)
        if model is None:
            continue
        header = known[model.path].header if model.path in known else None
        (companions if header and is_companion(header) else models).append(model)
        files_of[model.path] = tuple(files)
    return RootScan(
        models=tuple(models),
        companions=tuple(companions),
        problems=found.problems,
        files=files_of,
        folders=found.folders,
        left_over=found.left_over,
    )


def look(kind: RootKind, path: Path, stop: Callable[[], bool], others: Container[tuple[int, int]]) -> Walk:
    """The files of a root in the layout that it has."""
    if kind is RootKind.OLLAMA or (kind is not RootKind.OWN and ollama.is_ollama(path)):
        return ollama.find(path, stop)
    if kind is not RootKind.OWN and hub_cache.is_hub_cache(path):
        return hub_cache.find(path, stop)
    found = walk(path, stop, others)
    return msgspec.structs.replace(found, files=tuple(_described(file) for file in found.files))


def _described(file: FoundFile) -> FoundFile:
    origin = read_origin(file.path) if file.described else None
    if origin is None:
        return msgspec.structs.replace(file, described=False) if file.described else file
    known = Known(sha256=origin.sha256 or "", repo=origin.repo or None, commit=origin.commit, file=origin.path)
    return msgspec.structs.replace(file, known=known, described=bool(origin.repo and origin.path))


def _known_of(
    files: Sequence[FoundFile], index: Index, stop: Callable[[], bool], hashed: Mapping[Path, Checked]
) -> dict[Path, Entry]:
    """What is known of each file that has a header of its own, what was hashed since the last scan among it."""
    known = {file.path: _entry_of(file, index, stop) for file in files if not piece_of(file.path.name)}
    for file in files:
        new = hashed.get(file.path)
        if new is not None and file.path in known and new.fits(file) and known[file.path].path:
            known[file.path] = index.note(known[file.path], sha256=new.hashed.sha256, checked=new.when)
    return known


def _entry_of(file: FoundFile, index: Index, stop: Callable[[], bool]) -> Entry:
    known = index.get(file)
    if known is not None:
        return known
    if stop():
        problem = HeaderProblem(state=FileState.UNREADABLE, message="The scan was stopped.")
        return Entry(path=b"", size=0, mtime_ns=0, inode=0, problem=problem)
    found = read_file(file.path)
    if isinstance(found, HeaderProblem) and found.state is FileState.UNREADABLE:
        return Entry(path=b"", size=0, mtime_ns=0, inode=0, problem=found)
    return index.put(file, found)


def in_order(models: Iterable[InstalledModel]) -> tuple[InstalledModel, ...]:
    """By name, then by quantisation and path."""
    return tuple(sorted(models, key=lambda model: (model.name.lower(), model.quant, shown(model.path))))
