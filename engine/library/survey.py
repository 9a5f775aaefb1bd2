"""All roots of a library: which there are, what each holds, and what that makes together.

One survey goes on: `begin`, then `look_at` for each root, then `finish`. So a slow card holds up
nothing but itself, and what is known is shown in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from engine.library import duplicates
from engine.library.hashing import Hashed
from engine.library.index import Index
from engine.library.leftovers import sweep
from engine.library.records import InstalledModel, Mend, ScanResult
from engine.library.roots import LibraryRoot, RootInfo, RootKind, RootState
from engine.library.scan import NEVER, Checked, RootScan, in_order, scan_root
from engine.library.states import FileState
from engine.library.whereabouts import Whereabouts

NOT_INSERTED = "Its card or drive is not inserted."
NOT_THERE = "Its folder is not there now."
NOT_MADE_YET = "It will be made with the first download."
OWN_NOT_THERE = "The models folder is not there now. Was a card or drive taken out?"


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What the user wants to see.

    Attributes:
        roots: Folders that were added.
        hidden: Ids of folders of other programs that were taken off the list.
        others: Look for folders of other programs at all.
        used: When a path was loaded last, in seconds since 1970.
    """

    roots: tuple[LibraryRoot, ...] = ()
    hidden: tuple[str, ...] = ()
    others: bool = True
    used: Mapping[str, float] = {}


class Survey:
    """Scans many roots again and again; remembers what it read."""

    def __init__(self, where: Whereabouts, index: Index, stop: Callable[[], bool] = NEVER) -> None:
        """``stop`` is asked between files: a scan that is stopped gives what it has."""
        self._where = where
        self._index = index
        self._stop = stop
        self._wishes = Wishes()
        self._scans: dict[str, RootScan] = {}
        self._hashed: dict[Path, Checked] = {}

    def begin(self, wishes: Wishes) -> tuple[RootInfo, ...]:
        """All roots in the order in which they are shown, hidden ones too; nothing is read in them yet."""
        self._wishes = wishes
        infos = self._where.roots(wishes.roots, others=wishes.others)
        ids = {info.id for info in infos} - set(wishes.hidden)
        self._scans = {root: scan for root, scan in self._scans.items() if root in ids}
        return infos

    def look_at(self, info: RootInfo, infos: Sequence[RootInfo]) -> RootInfo:
        """Scan one root of ``infos`` and give its figures."""
        if info.id in self._wishes.hidden:
            return msgspec.structs.replace(info, models=len(self._index.models_of(info.id)))
        if info.state is not RootState.PRESENT:
            known = len(self._index.models_of(info.id))
            never = info.root.kind is RootKind.OWN and info.state is RootState.MISSING and not known
            return msgspec.structs.replace(info, models=known, problem=NOT_MADE_YET if never else info.problem)
        others = {one.path for one in infos if one.id != info.id and one.state is RootState.PRESENT}
        found = scan_root(
            info.root,
            info.path,
            self._index,
            self._stop,
            others=_identities(others),
            used=self._wishes.used,
            hashed=self._hashed,
        )
        if info.writable:
            sweep(found.left_over)
        self._scans[info.id] = found
        return msgspec.structs.replace(info, models=len(found.models), files=found.n_files, n_bytes=found.n_bytes)

    def result(self, infos: Sequence[RootInfo]) -> ScanResult:
        """What is known of ``infos`` by now; models of a missing card are there, and greyed."""
        hidden = set(self._wishes.hidden)
        shown_ = [info for info in infos if info.id not in hidden and not _idle(info)]
        models: list[InstalledModel] = []
        companions: list[InstalledModel] = []
        problems: list[str] = []
        folders: list[Path] = []
        for info in infos:
            if info.id in hidden:
                continue
            found = self._scans.get(info.id)
            folders += found.folders if found else [info.path]
            if info.state is not RootState.PRESENT:
                models += (_absent(model, info) for model in self._index.models_of(info.id))
            elif found is not None:
                models += in_order(found.models)
                companions += found.companions
                problems += found.problems
        return ScanResult(
            models=in_order(duplicates.mark(models, self._files(), self._index, self._stop)),
            companions=in_order(companions),
            problems=tuple(problems),
            folder_missing=any(info.root.kind is RootKind.OWN and info.state is RootState.MISSING for info in infos),
            roots=tuple(shown_),
            hidden=tuple(info for info in infos if info.id in hidden),
            folders=tuple(dict.fromkeys(folders)),
        )

    def finish(self, infos: Sequence[RootInfo]) -> ScanResult:
        """The result of the whole survey, kept for the next start."""
        if not self._stop():
            for info in infos:
                if info.id in self._scans and info.state is RootState.PRESENT:
                    self._index.put_models(info.id, self._scans[info.id].models)
            self._index.keep_only(self._kept(infos), (info.id for info in infos))
        result = self.result(infos)
        self._hashed.clear()
        self._index.save()
        return result

    def scan(self, wishes: Wishes | None = None) -> ScanResult:
        """All of it at once, for commands."""
        infos = self.begin(wishes or Wishes())
        return self.finish([self.look_at(info, infos) for info in infos])

    def remember(self, hashed: Iterable[Hashed], when: float) -> None:
        """Take what was hashed at ``when`` (seconds since 1970) into the next scan."""
        self.take(checked_at(hashed, when))

    def take(self, checked: Iterable[Checked]) -> None:
        """The same, with the time of each."""
        self._hashed.update((one.hashed.path, one) for one in checked)

    def _files(self) -> duplicates.FilesOf:
        return {path: files for scan in self._scans.values() for path, files in scan.files.items()}

    def _kept(self, infos: Sequence[RootInfo]) -> set[Path]:
        """Files that the index must not forget: what is there, what lies on a card that is not, what is hidden."""
        here = {file.path for files in self._files().values() for file in files}
        away = (info.id for info in infos if info.id not in self._scans)
        return here | {part for root in away for model in self._index.models_of(root) for part in model.parts}


def checked_at(hashed: Iterable[Hashed], when: float) -> tuple[Checked, ...]:
    """What was read whole among ``hashed``, at ``when`` (seconds since 1970)."""
    return tuple(Checked(one, when) for one in hashed if one.sha256)


def _idle(info: RootInfo) -> bool:
    """A folder of another program in which there is nothing for us."""
    return info.found and not info.models and not info.files and info.state is not RootState.UNREADABLE


def _identities(paths: set[Path]) -> set[tuple[int, int]]:
    found = set()
    for path in paths:
        try:
            info = os.stat(path)  # noqa: PTH116
        except OSError:
            continue
        found.add((info.st_dev, info.st_ino))
    return found


def _absent(model: InstalledModel, info: RootInfo) -> InstalledModel:
    if info.state is RootState.NOT_INSERTED:
        problem = NOT_INSERTED
    elif info.state is RootState.UNREADABLE:
        problem = info.problem
    else:
        problem = OWN_NOT_THERE if info.root.kind is RootKind.OWN else NOT_THERE
    return msgspec.structs.replace(
        model,
        state=FileState.ABSENT,
        can_chat=False,
        problem=problem,
        mends=(Mend.INSERT,),
        duplicate_of=None,
        likely_duplicate=False,
        same_file=False,
    )
