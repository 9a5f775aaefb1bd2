"""Search of the Hub, the pages of its repositories and the catalogue."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from app.downloads.settings import DownloadSettings, network_environment
from app.hub.service import HubService
from app.jobs import ThreadExecutor
from app.settings.fields import feature_name
from app.wiring.ground import Ground

if TYPE_CHECKING:
    from engine.memory.fit import FitDevice


def make_hub(ground: Ground, machine: Callable[[], tuple[FitDevice, ...]]) -> HubService:
    """What the Hub is asked, in the way that the settings allow. ``machine``: the devices with their room."""

    def settings() -> DownloadSettings:
        return ground.settings.get(DownloadSettings)

    hub = HubService(
        ground.paths.cache / "hub",
        ThreadExecutor("hub"),
        lambda: network_environment(settings(), os.environ),
        lambda: settings().offline,
        machine,
        ground.lifetime,
    )
    own = feature_name(DownloadSettings)
    ground.settings.changed.connect(lambda feature: hub.settings_changed() if feature == own else None)
    return hub
