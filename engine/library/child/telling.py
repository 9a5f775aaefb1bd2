"""Both ends of what is told of a survey: only what the other side has not got goes over the pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from pathlib import Path

from engine.library.child.messages import BATCH, BrokenFrameError, Event, Folders, Found, Records
from engine.library.records import InstalledModel, ScanResult


class Teller:
    """The child's end.

    Args:
        send: Writes one event.
    """

    def __init__(self, send: Callable[[Event], None]) -> None:
        self._send = send
        self._count = count()
        self._told: dict[Path, tuple[int, InstalledModel]] = {}
        self._folders: tuple[Path, ...] | None = None

    def tell(self, result: ScanResult, *, last: bool) -> None:
        """Tell ``result``."""
        self._tell_folders(result.folders)
        numbers = self._numbers((*result.models, *result.companions))
        split = len(result.models)
        self._send(
            Found(
                last=last,
                models=numbers[:split],
                companions=numbers[split:],
                folder_missing=result.folder_missing,
                problems=result.problems,
                roots=result.roots,
                hidden=result.hidden,
            )
        )

    def _tell_folders(self, folders: tuple[Path, ...]) -> None:
        if folders == self._folders:
            return
        self._folders = folders
        for at in range(0, max(len(folders), 1), 4 * BATCH):
            self._send(Folders(first=at == 0, paths=folders[at : at + 4 * BATCH]))

    def _numbers(self, models: Sequence[InstalledModel]) -> tuple[int, ...]:
        """The number of each; what has none, or is another one by now, is told."""
        before, self._told = self._told, {}
        new: list[tuple[int, InstalledModel]] = []
        numbers = []
        for model in models:
            known = before.get(model.path)
            if known is None or known[1] != model:
                known = (next(self._count), model)
                new.append(known)
            self._told[model.path] = known
            numbers.append(known[0])
        for at in range(0, len(new), BATCH):
            some = new[at : at + BATCH]
            self._send(Records(numbers=tuple(one[0] for one in some), models=tuple(one[1] for one in some)))
        return tuple(numbers)


class Listener:
    """The parent's end."""

    def __init__(self) -> None:
        self._models: dict[int, InstalledModel] = {}
        self._folders: tuple[Path, ...] = ()

    def take(self, event: Event) -> ScanResult | None:
        """What is known after ``event``, where that is a whole. Raises `BrokenFrameError`: it names what never came."""
        if isinstance(event, Records):
            self._models.update(zip(event.numbers, event.models, strict=False))
        elif isinstance(event, Folders):
            self._folders = event.paths if event.first else (*self._folders, *event.paths)
        elif isinstance(event, Found):
            return self._whole(event)
        return None

    def _whole(self, found: Found) -> ScanResult:
        try:
            models, companions = self._named(found.models), self._named(found.companions)
        except KeyError as error:
            raise BrokenFrameError(f"there is no model {error}") from error
        self._models = {number: self._models[number] for number in chain(found.models, found.companions)}
        return ScanResult(
            models=models,
            companions=companions,
            folder_missing=found.folder_missing,
            problems=found.problems,
            roots=found.roots,
            hidden=found.hidden,
            folders=self._folders,
        )

    def _named(self, numbers: Iterable[int]) -> tuple[InstalledModel, ...]:
        return tuple(self._models[number] for number in numbers)
