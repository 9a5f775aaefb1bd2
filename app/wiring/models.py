"""The models that are here, those that come, and what is asked of the Hub with an account."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import msgspec

from app.downloads.account import HubAccount
from app.downloads.awake import KeepAwake
from app.downloads.network import Network
from app.downloads.remote_headers import RemoteHeaders
from app.downloads.service import DownloadService
from app.folders.look import FolderLook
from app.jobs import SerialRunner, ThreadExecutor
from app.library.service import LibraryService, Outside
from app.paths import starter_model
from app.settings.records import EngineSettings
from app.settings.store import SettingsStore
from app.wiring.ground import Ground
from engine.library.surroundings import here
from engine.power.awake import Inhibitor


class Models(TypedDict):
    """Files of models, here and on the Hub."""

    library: LibraryService
    downloads: DownloadService
    remote: RemoteHeaders
    account: HubAccount
    folders: FolderLook


def make_models(ground: Ground) -> Models:
    """The models that are here, those that come, and what is read on the Hub with an account."""
    library, downloads = make_library(ground)
    network = Network(ground.settings)
    headers = ThreadExecutor("headers")
    return {
        "library": library,
        "downloads": downloads,
        "remote": RemoteHeaders(ground.paths.cache / "headers", headers, ground.lifetime, environ=network.environ),
        "account": HubAccount(ThreadExecutor("account"), network, ground.lifetime),
        "folders": FolderLook(ThreadExecutor("folders"), Path.home(), ground.lifetime),
    }


def make_library(ground: Ground) -> tuple[LibraryService, DownloadService]:
    """The library and the downloads that fill it."""
    outside = Outside(
        settings=ground.settings,
        around=here(),
        index=ground.paths.cache / "library" / "index.msgpack",
        files=ThreadExecutor("library-files"),
        watch=True,
        apart=True,
        repair=lambda path, origin, parts: downloads.repair(path, origin, parts),
    )
    library = LibraryService(ground.paths.models, starter_model(), ThreadExecutor("library"), ground.lifetime, outside)
    downloads = DownloadService(
        ground.paths.models,
        ThreadExecutor("downloads"),
        ground.lifetime,
        store=ground.settings,
        queue_file=ground.paths.data / "downloads.json",
        awake=KeepAwake(Inhibitor(), SerialRunner(ThreadExecutor("awake"), ground.lifetime), ground.lifetime),
    )
    downloads.finished.connect(lambda _job: library.rescan())
    library.moved.connect(lambda before, after: follow_model(ground.settings, before, after))
    return library, downloads


def follow_model(settings: SettingsStore, before: str, after: str) -> None:
    """The model that was loaded last is found where it was moved to."""
    present = settings.get(EngineSettings)
    if present.last_model == before:
        settings.put(msgspec.structs.replace(present, last_model=after))
