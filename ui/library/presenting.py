"""Makes the models window of the running program."""

from __future__ import annotations

from app.downloads.settings import DownloadSettings
from app.services import Services
from ui.library.outside import Outside, site_of
from ui.library.parts import Parts
from ui.library.window import ModelManagerWindow
from ui.theme import Theme


def make_manager(services: Services, theme: Theme) -> ModelManagerWindow:
    """The window, not shown yet."""
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
            outside=Outside(site=lambda: site_of(services.settings.get(DownloadSettings))),
        )
    )
