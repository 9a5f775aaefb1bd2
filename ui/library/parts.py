"""What the models window is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.downloads.service import DownloadService
from app.fit.badges import FitBadges
from app.library.service import LibraryService
from app.settings.store import SettingsStore
from app.worker.service import WorkerService
from ui.library.outside import Outside
from ui.library.seams import Account, Hub
from ui.theme import Theme


@dataclass(frozen=True)
class Parts:
    """The services that the window shows. `badges` and `account` may be missing in tests."""

    theme: Theme
    hub: Hub
    downloads: DownloadService
    library: LibraryService
    worker: WorkerService
    settings: SettingsStore
    badges: FitBadges | None = None
    account: Account | None = None
    outside: Outside = field(default_factory=Outside)
