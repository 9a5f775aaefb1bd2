"""Will it fit, for lists of models: those that are here, and those of a repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.downloads.remote_headers import RemoteHeaders
from app.load.service import LoadService
from engine.library.listing import RepoFile, RepoListing
from engine.library.names import short_name

if TYPE_CHECKING:
    from engine.memory.fit import FitModel, FitPlan, Suggestion


@dataclass(frozen=True)
class Badge:
    """What is known of one model.

    Attributes:
        plan: The forecast with the options that it would be loaded with; None: nothing is known.
        akin: It was reckoned from another file of the same model.
    """

    plan: FitPlan | None = None
    akin: bool = False


UNKNOWN = Badge()


class FitBadges(QObject):
    """Forecasts for rows of tables. Asks headers only for the rows that somebody looks at.

    Attributes:
        changed: Some forecasts may be others now.
    """

    changed = Signal()

    def __init__(self, load: LoadService, remote: RemoteHeaders, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._load, self._remote = load, remote
        for signal in (load.known, load.measured, remote.read):
            signal.connect(self.changed)

    # ---- models that are here

    def of_installed(self, path: Path) -> Badge:
        """For the model at ``path``, as it would be loaded."""
        return Badge(self._load.forecast(path, self._load.options_for(path)))

    def suggestions_for(self, path: Path) -> tuple[Suggestion, ...]:
        """What would make it fit."""
        return self._load.suggest(path, self._load.options_for(path))

    def look_at(self, paths: Iterable[Path]) -> None:
        """These rows are seen: their headers are read, one after the other."""
        for path in paths:
            self._load.read_header(path)

    # ---- models of a repository

    def of_file(self, listing: RepoListing, file: RepoFile) -> Badge:
        """For a file of a repository, with the options for all models."""
        model, akin = self._model(listing, file)
        return UNKNOWN if model is None else Badge(self._load.forecast_of(model), akin)

    def suggestions_for_file(self, listing: RepoListing, file: RepoFile) -> tuple[Suggestion, ...]:
        """What would make it fit."""
        model, _ = self._model(listing, file)
        return () if model is None else self._load.suggest_for(model)

    def smaller_file(self, listing: RepoListing, file: RepoFile) -> RepoFile | None:
        """The largest other file of the same model that fits as it would be loaded."""
        size, family = file.size or 0, family_of(file)
        others = [one for one in listing.files if family_of(one) == family and not one.companion and one.size]
        for one in sorted(others, key=lambda other: -(other.size or 0)):
            plan = self.of_file(listing, one).plan if (one.size or 0) < size else None
            if plan is not None and plan.proposal is not None and plan.proposal == plan.options:
                return one
        return None

    def look_at_files(self, listing: RepoListing, seen: Sequence[RepoFile], chosen: RepoFile | None) -> None:
        """These rows are seen: one header for each model is read, for its other quants are reckoned from it.

        The header of the row that is ``chosen`` is read itself.
        """
        if chosen is not None and not chosen.companion:
            self._remote.ask(listing, chosen)
        asked = {family_of(chosen)} if chosen is not None else set()
        for file in seen:
            family = family_of(file)
            if file.companion or family in asked or self._akin(listing, file) is not None:
                continue
            asked.add(family)
            self._remote.ask(listing, file)

    def leave_files(self) -> None:
        """Nobody looks at a repository any more."""
        self._remote.leave()

    def _model(self, listing: RepoListing, file: RepoFile) -> tuple[FitModel | None, bool]:
        """The model of ``file``, and whether that is another quant of the same one, scaled."""
        if file.companion:
            return None, False
        known = self._remote.model(listing, file)
        other = None if known is not None else self._akin(listing, file)
        if known is not None or other is None or file.size is None:
            return known, False
        from engine.memory.fit.remote import scaled_to

        model, size = other
        return scaled_to(model, size, file.size), True

    def _akin(self, listing: RepoListing, file: RepoFile) -> tuple[FitModel, int] | None:
        """Another file of the same model whose header is known, and its size: the one nearest in size."""
        family, size = family_of(file), file.size or 0
        known = [
            (model, one.size)
            for one in listing.files
            if one.size and family_of(one) == family and (model := self._remote.model(listing, one)) is not None
        ]
        return min(known, key=lambda pair: abs(pair[1] - size), default=None)


def family_of(file: RepoFile) -> str:
    """The name of a file without its quant: files of one family are the same model."""
    folder, _, name = file.path.rpartition("/")
    own = short_name(name, "", "").casefold()
    return own if not folder or folder.casefold() == file.quant.casefold() else f"{folder.casefold()}/{own}"
