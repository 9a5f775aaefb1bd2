"""What the library is given by the rest of the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.jobs import Executor
from app.library.settings import LibrarySettings, LibraryUseSettings
from app.library.updates import Ask
from app.settings.store import SettingsStore
from engine.library.origin import Origin
from engine.library.surroundings import Surroundings
from engine.library.survey import Wishes


@dataclass(frozen=True)
class Outside:
    """Everything may be missing: then there is only the own folder.

    Attributes:
        settings: Keeps the added folders and when models were used.
        around: Where other programs and drives are looked for.
        index: File that keeps what scans read.
        files: Executor for long work, so that a check does not hold up a scan.
        watch: Hear of changes.
        repair: Mends the model at a path, with what is known of its origin, and all its files.
        ask: Asks the Hub for a repository; `LibraryService.ask_through` gives it later.
        apart: Look at files in a process of its own, as a window needs it; not without ``around``.
        now: Seconds since 1970.
    """

    settings: SettingsStore | None = None
    around: Surroundings | None = None
    index: Path | None = None
    files: Executor | None = None
    watch: bool = False
    repair: Callable[[Path, Origin | None, Sequence[Path]], object] | None = None
    ask: Ask | None = None
    apart: bool = False
    now: Callable[[], float] = time.time

    @property
    def wishes(self) -> Wishes:
        """What the settings say now."""
        if self.settings is None:
            return Wishes(others=False)
        library = self.settings.get(LibrarySettings)
        used = self.settings.get(LibraryUseSettings).used
        return Wishes(roots=library.roots, hidden=library.hidden, others=library.others, used=used)
