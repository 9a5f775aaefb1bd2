"""A library service in a small world of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject

from app.jobs import SerialRunner
from app.library.service import InstalledModel, LibraryService, Outside, RootInfo
from app.notices import Notices
from app.settings.store import SettingsStore
from tests.app.chat.cranked import Cranked
from tests.fakes.model_homes import machine


class World:
    """An own folder, a machine around it, settings, and executors that the test turns."""

    def __init__(self, folder: Path, parent: QObject) -> None:
        self.folder = folder
        self.own = folder / "own"
        self.around = machine(folder)
        self.crank = Cranked()
        self.files = Cranked()
        self.parent = parent
        self.now = 1000.0
        notices = Notices(parent)
        self.settings = SettingsStore(folder / "settings.json", SerialRunner(self.crank, parent), notices, parent)
        self.outside = Outside(
            settings=self.settings,
            around=self.around,
            index=folder / "index",
            files=self.files,
            now=lambda: self.now,
        )
        self.libraries: list[LibraryService] = []

    def library(self, **changes: object) -> LibraryService:
        """A service that has scanned."""
        outside = replace(self.outside, **changes)  # type: ignore[arg-type]
        service = LibraryService(self.own, None, self.crank, self.parent, outside)
        self.libraries.append(service)
        self.drain()
        return service

    def drain(self) -> None:
        """Run everything that waits, also what comes of it."""
        while self.crank.waiting or self.files.waiting:
            self.files.drain()
            self.crank.drain()

    def close(self) -> None:
        """End the services."""
        for library in self.libraries:
            library.shutdown()


def named(library: LibraryService, name: str) -> InstalledModel:
    """The model of this file name."""
    return next(model for model in library.models if model.path.name == name)


def root_at(library: LibraryService, path: Path) -> RootInfo:
    """The root that lies there."""
    return next(root for root in library.roots if root.path == path)
