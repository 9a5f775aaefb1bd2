"""Makes the models window of the running program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.downloads.settings import DownloadSettings
from app.services import Services
from ui.library.outside import Outside, open_folder, site_of
from ui.library.parts import Parts
from ui.library.window import ModelManagerWindow
from ui.theme import Theme


def make_manager(
    services: Services, theme: Theme, show_folder: Callable[[Path], None] = open_folder
) -> ModelManagerWindow:
    """The window, not shown yet. ``show_folder`` shows a folder outside of it."""
    return ModelManagerWindow(
        Parts(
            theme=theme,
            hub=services.hub,
            downloads=services.downloads,
            library=services.library,
            worker=services.worker,
            settings=services.settings,
            badges=services.badges,
            account=services.account,
            outside=Outside(folder=show_folder, site=lambda: site_of(services.settings.get(DownloadSettings))),
        )
    )
